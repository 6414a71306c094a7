#!/usr/bin/env python3
"""Run the examples of the documentation.

A ```console block holds commands behind "$ " and what they print; "..." alone on
a line stands for any lines.  Commands run in a scratch folder in which `kernels`
and `examples` lead to the repository's, with `axe` first on PATH, and `python3` as
tools/python with the package of the build tree.  A picture that a command writes is
the one that the page shows.  A ```python block of docs/tutorial.md is part of a script
of examples/tutorial.  An ```axe block of the
README must compile; those of docs/language.md have a test of their own.  A block
```console opencl runs where a device of OpenCL has sub-groups of 16 lanes.  A table
row `| 1 | `function` | `file` |` names a function that is defined in src/file.
"""
import os
import re
import subprocess
import sys
import tempfile


# How the output of a command begins whose exit status is not 0.
NO = ("error:", "different in ", "refused: ")


def has_opencl():
    """Under the sanitizers there is none: what runtimes keep is a leak to them."""
    if os.environ.get("AXE_SHARE"):
        return False
    said = subprocess.run([os.environ["AXE"], "devices"], capture_output=True,
                          text=True).stdout
    return re.search(r"sub-groups of.* 16\b", said) is not None


def has_package(axe):
    """The sanitizers' libraries would have to be loaded before Python."""
    package = os.path.join(os.path.dirname(axe), "python")
    return not os.environ.get("AXE_SHARE") and \
        os.path.exists(os.path.join(package, "axe", "_axe.abi3.so"))


def blocks(path):
    text = open(path, encoding="utf-8").read()
    for m in re.finditer(r"^```console( opencl)?\n(.*?)^```$", text,
                         re.M | re.S):
        line = text[: m.start()].count("\n") + 2
        if m.group(1) and not has_opencl():
            print(f"{path}:{line}: not run, no device of OpenCL")
        else:
            yield line, m.group(2)


def examples(block):
    command, want = None, []
    for line in block.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command, want
            command, want = line[2:], []
        else:
            want.append(line)
    if command is not None:
        yield command, want


def matches(want, got):
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and want[0].rstrip() == got[0].rstrip() and \
        matches(want[1:], got[1:])


def compiles(axe, path, work):
    text = open(path, encoding="utf-8").read()
    kernels = re.findall(r"^```axe\n(.*?)^```$", text, re.M | re.S)
    for kernel in kernels:
        name = os.path.join(work, "block.axe")
        with open(name, "w", encoding="utf-8") as f:
            f.write(kernel)
        if subprocess.run([axe, "compile", name, "-o", name + ".c"]).returncode:
            print(f"{path}: a kernel does not compile")
            return False
    return bool(kernels)


def astray(root, path):
    """Rows whose function is not defined where they say."""
    text = open(path, encoding="utf-8").read()
    for m in re.finditer(r"^\| \d+ \| `(\w+)` \| `([\w./]+)` \|", text, re.M):
        name, file = m.groups()
        where = os.path.join(root, "src", file)
        code = open(where, encoding="utf-8").read() if os.path.exists(where) else ""
        if not re.search(r"^%s\(" % name, code, re.M):
            yield f"{path}:{text[: m.start()].count(chr(10)) + 1}: no {name} in src/{file}"


def unlike_scripts(src, path):
    """Python of the page that no script has."""
    folder = os.path.join(src, "examples", "tutorial")
    scripts = [open(os.path.join(folder, f), encoding="utf-8").read()
               for f in sorted(os.listdir(folder)) if f.endswith(".py")]
    text = open(path, encoding="utf-8").read()
    for m in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        if not any(m.group(1) in s for s in scripts):
            yield (f"{path}:{text[: m.start()].count(chr(10)) + 1}: "
                   f"no script of examples/tutorial has this")


def unlike_pictures(path, work):
    """Pictures of the page that commands wrote otherwise."""
    text = open(path, encoding="utf-8").read()
    for name in re.findall(r"\]\((img/[\w.]+)\)", text):
        written = os.path.join(work, os.path.basename(name))
        shown = os.path.join(os.path.dirname(path), name)
        if os.path.exists(written) and \
                open(written, "rb").read() != open(shown, "rb").read():
            yield f"{path}: {name} is not what a command writes"


def main():
    axe, src = os.environ["AXE"], os.environ["SRC"]
    env = dict(os.environ, NO_COLOR="1",
               PATH=os.path.dirname(axe) + ":" + os.environ["PATH"],
               PYTHONPATH=os.path.join(os.path.dirname(axe), "python"),
               PYTHONDONTWRITEBYTECODE="1")
    python = os.environ.get("PYTHON", os.path.join(src, "tools", "python"))
    package = has_package(axe)
    failed = ran = 0
    with tempfile.TemporaryDirectory() as work:
        for folder in ("kernels", "examples"):
            os.symlink(os.path.join(src, folder), os.path.join(work, folder))
        for path in sys.argv[1:]:
            if os.path.basename(path) == "README.md":
                ran += 1
                failed += not compiles(axe, path, work)
            mistakes = list(astray(src, path))
            if os.path.basename(path) == "tutorial.md":
                mistakes += unlike_scripts(src, path)
            for wrong in mistakes:
                failed += 1
                print(wrong)
            for line, block in blocks(path):
                for command, want in examples(block):
                    if command.startswith("python3 "):
                        if not package:
                            print(f"{path}:{line}: not run, no package: {command}")
                            continue
                        command = f'"{python}" {command[8:]}'
                    p = subprocess.run(["bash", "-c", command], cwd=work,
                                       env=env, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
                    got = p.stdout.splitlines()
                    if "there is no libnvrtc" in p.stdout:
                        print(f"{path}:{line}: not run, no NVRTC: {command}")
                        continue
                    ran += 1
                    expect_error = any(w.startswith(NO) or ": error:" in w
                                       for w in want)
                    if not matches(want, got) or \
                            (p.returncode != 0) != expect_error:
                        failed += 1
                        print(f"{path}:{line}: $ {command}")
                        print(f"  exit {p.returncode}, printed:")
                        print("".join(f"  | {g}\n" for g in got), end="")
            for wrong in unlike_pictures(path, work):
                failed += 1
                print(wrong)
    print(f"{ran} commands, {failed} failed")
    return failed != 0 or ran == 0


if __name__ == "__main__":
    sys.exit(main())
