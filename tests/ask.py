"""ask.py - one Python for all that a script asks of NumPy, which takes longer to start
than most of that: programs that end in a zero byte, answered by what they print, a line
that is 0, or 1 where they raise, and a zero byte.  tests/ask.sh asks."""
import contextlib
import io
import sys
import traceback


def answer(program):
    said, raised = io.StringIO(), 0
    with contextlib.redirect_stdout(said):
        try:
            exec(program, {"__name__": "asked"})
        except Exception:
            raised = 1
            traceback.print_exc(file=said)
    return f"{said.getvalue()}{raised}\0"


def main():
    text = b""
    while more := sys.stdin.buffer.read1(1 << 16):
        *programs, text = (text + more).split(b"\0")
        for program in programs:
            sys.stdout.write(answer(program.decode()))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
