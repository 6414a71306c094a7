"""Tensors, their values, and the record of instructions."""

import contextlib

import numpy as np

BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i32": 4, "u32": 4, "i16": 2, "i8": 1, "u8": 1}
ROOM = {"sbuf": 176 * 1024, "psum": 16 * 1024}
BANK = 2048


class Refused(Exception):
    """What is outside of the subset, or breaks a rule of it."""


def rounded(values, dtype):
    """f32 values as the type has them: nearest, ties to even; integers saturate."""
    values = np.asarray(values, np.float32)
    if dtype == "f32":
        return values
    if dtype == "bf16":
        u = values.view(np.uint32).astype(np.uint64)
        u = (u + 0x7FFF + (u >> 16 & 1)) >> 16 << 16
        return u.astype(np.uint32).view(np.float32)
    if dtype == "f16":
        return values.astype(np.float16).astype(np.float32)
    bits = 8 * BYTES[dtype]
    low, high = (0, 2 ** bits - 1) if dtype[0] == "u" else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    return np.clip(np.rint(values.astype(np.float64)), low, high).astype(np.float32)


class Tensor:
    """Values as f32 [elements], poisoned until they are written."""

    def __init__(self, record, name, shape, dtype, buffer, address):
        self.record, self.name, self.shape = record, name, shape
        self.dtype, self.buffer, self.address = dtype, buffer, address
        self.values = np.full(int(np.prod(shape)), np.nan, np.float32)
        self.written = np.zeros(int(np.prod(shape)), bool)

    def __getitem__(self, index):
        return View.of(self)[index]

    def reshape(self, shape):
        return Shaped(self, tuple(shape))

    def ap(self, pattern, offset=0, vector_offset=None, indirect_dim=0):
        """[[stride, count], ..], the first on partitions."""
        if vector_offset is not None:
            return Shaped(self, self.shape).ap(pattern, offset, vector_offset, indirect_dim)
        row = 1 if self.buffer == "hbm" else int(np.prod(self.shape[1:]))
        (step, parts), rest = pattern[0], pattern[1:]
        if self.buffer != "hbm" and step != row:
            raise Refused(f"partitions of {self.name} have no stride but {row}")
        dims = [(count, stride) for stride, count in rest] or [(1, 1)]
        return View(self, offset, (parts, step), dims)

    def array(self):
        if not self.written.all():
            raise Refused(f"{self.name} is a result, and not all of it was written")
        return self.values.reshape(self.shape)

    def __del__(self):
        self.record.free(self)


class View:
    """Elements of a tensor: an offset, partitions, counts and strides."""

    def __init__(self, tensor, offset, parts, dims):
        self.tensor, self.offset, self.parts, self.dims = tensor, offset, parts, dims

    @staticmethod
    def of(x):
        if isinstance(x, View):
            return x
        if not isinstance(x, Tensor):
            raise Refused(f"{x!r} is no tensor")
        strides = np.cumprod([1, *x.shape[:0:-1]])[::-1].tolist()
        dims = list(zip(x.shape, strides, strict=True))
        return View(x, 0, dims[0], dims[1:] or [(1, 1)])

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        dims, at, out = [self.parts, *self.dims], self.offset, []
        if len(index) > len(dims):
            raise Refused(f"{self.tensor.name} has {len(dims)} dimensions")
        for k, (count, stride) in enumerate(dims):
            i = index[k] if k < len(index) else slice(None)
            if isinstance(i, slice):
                if i.step not in (None, 1):
                    raise Refused("steps in slices are outside of the subset")
                low, high = i.start or 0, count if i.stop is None else i.stop
                if not 0 <= low < high <= count:
                    raise Refused(f"{low}:{high} leaves {self.tensor.name}, {count} long")
                out.append((high - low, stride))
            elif isinstance(i, int) and 0 <= i < count:
                low = i
                if k == 0:
                    out.append((1, stride))
            else:
                raise Refused(f"{i!r} is no index of {self.tensor.name}, {count} long")
            at += low * stride
        return View(self.tensor, at, out[0], out[1:] or [(1, 1)])

    @property
    def n(self):
        return int(np.prod([c for c, _ in self.dims]))

    def places(self):
        at = self.offset + np.arange(self.parts[0])[:, None] * self.parts[1]
        free = np.zeros(1, np.int64)
        for count, stride in self.dims:
            free = (free[:, None] + np.arange(count)[None, :] * stride).ravel()
        return at + free[None, :]

    def load(self):
        at = self.places()
        if at.min() < 0 or at.max() >= self.tensor.values.size:
            raise Refused(f"the pattern leaves {self.tensor.name}")
        if not self.tensor.written[at].all():
            raise Refused(f"{self.tensor.name} is read where nobody wrote")
        return self.tensor.values[at]

    def store(self, values):
        at = self.places()
        if at.min() < 0 or at.max() >= self.tensor.values.size:
            raise Refused(f"the pattern leaves {self.tensor.name}")
        self.tensor.values[at] = rounded(values, self.tensor.dtype).reshape(at.shape)
        self.tensor.written[at] = True

    def text(self):
        t, dims = self.tensor, ", ".join(f"{c} by {s}" for c, s in self.dims)
        if t.buffer == "hbm":
            return f"{t.name}[{self.offset} : {self.parts[0]} by {self.parts[1]}, {dims}]"
        row = int(np.prod(t.shape[1:]))
        return f"{t.name}[{self.offset // row}, {self.offset % row} : {self.parts[0]}, {dims}]"


class Shaped:
    """A tensor of device memory in another shape, whose rows indices choose."""

    def __init__(self, tensor, shape):
        if tensor.buffer != "hbm" or int(np.prod(shape)) != tensor.values.size:
            raise Refused(f"{tensor.name} has no shape {shape}")
        self.tensor, self.shape = tensor, shape

    def ap(self, pattern, offset=0, vector_offset=None, indirect_dim=0):
        row = int(np.prod(self.shape[1:]))
        (step, parts), rest = pattern[0], pattern[1:]
        if vector_offset is None or indirect_dim != 0 or step != row:
            raise Refused(f"rows of {self.tensor.name} are chosen by vector_offset, of dimension 0, "
                          f"{row} apart")
        dims = [(count, stride) for stride, count in rest] or [(1, 1)]
        return Rows(self.tensor, offset, (parts, row), dims, vector_offset)


class Rows(View):
    """Elements of rows, one for each partition, of which a tile has the indices."""

    def __init__(self, tensor, offset, parts, dims, indices):
        super().__init__(tensor, offset, parts, dims)
        self.indices, row = View.of(indices), parts[1]
        t = self.indices.tensor
        if t.buffer != "sbuf" or t.dtype not in ("i32", "u32"):
            raise Refused(f"indices are int32 or uint32 in sbuf; {t.name} is {t.dtype} in {t.buffer}")
        if self.indices.n != 1 or self.indices.parts[0] != parts[0]:
            raise Refused(f"{t.name} has not one index for each of {parts[0]} partitions")
        low = offset + sum(min(0, (c - 1) * s) for c, s in dims)
        high = offset + sum(max(0, (c - 1) * s) for c, s in dims)
        if low < 0 or high >= row:
            raise Refused(f"the pattern leaves its row of {tensor.name}, {row} long")

    def copy(self, dst, skip):
        """To the partitions whose index is of a row; others keep what they have."""
        index = self.indices.load()[:, 0]
        if index.min() < 0:
            raise Refused("a negative index: no document says what that does")
        there = index < self.tensor.values.size // self.parts[1]
        if not skip and not there.all():
            raise Refused(f"an index is of no row of {self.tensor.name}")
        free = View(self.tensor, self.offset, (1, 0), self.dims).places()
        at = np.where(there, index, 0).astype(np.int64)[:, None] * self.parts[1] + free
        to = dst.places().reshape(at.shape)[there]
        dst.tensor.values[to] = rounded(self.tensor.values[at[there]], dst.tensor.dtype)
        dst.tensor.written[to] = True


class Record:
    """What a kernel did, as a trace."""

    def __init__(self):
        self.head, self.lines, self.names = [], [], set()
        self.inputs, self.outputs = {}, {}
        self.live = {"sbuf": [], "psum": []}
        self.next = {"sbuf": 0, "psum": 0}

    def _name(self, name, letter):
        name = name or f"{letter}{len(self.names)}"
        if name in self.names:
            raise Refused(f"two tensors are called {name}")
        self.names.add(name)
        return name

    def input(self, name, value):
        value = np.asarray(value)
        dtype = {"float32": "f32", "float16": "f16", "int32": "i32", "uint32": "u32",
                 "int16": "i16", "int8": "i8", "uint8": "u8"}.get(str(value.dtype), "bf16")
        if dtype == "bf16":  # its bits, as uint16
            value = (value.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        t = Tensor(self, self._name(name, "x"), value.shape, dtype, "hbm", None)
        t.values[:] = value.astype(np.float32).ravel()
        t.written[:] = True
        self.inputs[t.name] = t
        self.head.append((t, "in"))
        return t

    def output(self, t):
        if t.buffer != "hbm" or t.name in self.inputs:
            raise Refused(f"{t.name} is no result in shared_hbm")
        self.outputs[t.name] = t

    def tensor(self, shape, dtype, buffer, name, address):
        buffer, dtype = buffer.name, dtype.name
        t = Tensor(self, self._name(name, buffer[0]), shape, dtype, buffer, address)
        if buffer == "hbm":
            self.head.append((t, "out"))
            return t
        if shape[0] > 128:
            raise Refused(f"{t.name} has {shape[0]} partitions; there are 128")
        size = int(np.prod(shape[1:])) * BYTES[dtype]
        t.address = address or (0, self.place(buffer, size))
        if t.address[0] + shape[0] > 128 or t.address[1] + size > ROOM[buffer]:
            raise Refused(f"{t.name} leaves {buffer}: {size} bytes at {t.address[1]}, "
                          f"{shape[0]} partitions at {t.address[0]}")
        self.live[buffer].append((t.address[1], size, id(t)))
        dims = ", ".join(map(str, shape))
        self.lines.append(f"{buffer} {t.name} : {dtype}[{dims}] at {t.address[0]}, {t.address[1]}")
        return t

    def place(self, buffer, size):
        """The next free bytes behind those given last, round and round."""
        unit = BANK if buffer == "psum" else 32
        used = sorted((at, at + n) for at, n, _ in self.live[buffer])
        for start in (self.next[buffer], 0):
            at = start
            for low, high in used:
                if at + size > low and at < high:
                    at = -(-high // unit) * unit
            if at + size <= ROOM[buffer]:
                self.next[buffer] = -(-(at + size) // unit) * unit
                return at
        raise Refused(f"no {size} bytes of {buffer} are free")

    def free(self, t):
        if t.buffer in self.live:
            self.live[t.buffer] = [x for x in self.live[t.buffer] if x[2] != id(t)]

    def do(self, engine, op, tiles, named):
        text = ", ".join(View.of(t).text() for t in tiles)
        for key, value in named.items():
            if value is not None:
                shown = View.of(value).text() if isinstance(value, Tensor | View) else value
                text += f", {key}={shown}"
        self.lines.append(f"{engine} {op} {text}")

    def text(self):
        lines = ["trace recorded"]
        for t, access in self.head:
            dims = ", ".join(map(str, t.shape))
            lines.append(f"hbm {t.name} : {t.dtype}[{dims}] {access}")
        return "\n".join(lines + self.lines) + "\n"


_records = []


def current():
    if not _records:
        raise Refused("a kernel is called outside of nki.recording()")
    return _records[-1]


@contextlib.contextmanager
def recording():
    _records.append(Record())
    try:
        yield _records[-1]
    finally:
        _records.pop()
