#!/usr/bin/env python3
"""random_gpu.py - random kernels on GPUs that are not there, and on OpenCL's
devices, against the reference.

    random_gpu.py AXE [COUNT [SEED [JUDGE...]]]

The kernels of random_kernels.py, each for one of the GPUs by turns.  Judges:
sim     the simulator, with --check
ptx     the printed text, as nvcc's front end leaves it, by the driver of
        tests/ptx, in the environment that cli.ptx_slow makes
text    none: there is a text, or what is refused is refused by the plan
opencl  the devices of OpenCL that are installed, one and one of its widths by
        turns, without the driver's optimiser (OPENCL_OPTIMISE=1: with it)
opencl-sim  the simulator, for the same
What no plan takes is counted, by reason with -v; whatever else goes wrong is
made smaller and printed.  AXE_RACES=0 passes over what the simulator finds
that is no wrong result.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy

from random_kernels import make_array, maker_of, spell

MACHINES = ["sm_80", "sm_90a", "sm_100a"]
INNER = ["CUDA C", "OpenCL C", "refuses the text", "CL_", "the simulator:", "PTX", "NVRTC", "internal",
         "gcc failed"]


def opencl_machines(axe):
    """MACHINE@DEVICE of each device and each width that plans may have."""
    said = subprocess.run([axe, "devices", "--json"], capture_output=True,
                          text=True, check=True).stdout
    found = []
    for d in json.loads(said)["opencl"]["devices"]:
        lanes = [w for w in d["widths"] if w in (8, 16, 32, 64)]
        if not all(f in d["features"] for f in ("shuffle", "width")):
            lanes = []
        found += ["opencl@%d" % d["number"]]
        found += ["opencl-sg%d@%d" % (w, d["number"]) for w in lanes]
    return found


class Judge:
    def __init__(self, axe, folder, how):
        self.axe, self.folder, self.how = axe, folder, how
        self.n_run, self.n_refused, self.reasons = 0, 0, {}

    def command(self, machine, args):
        if self.how == "text":
            return ["compile", "k.axe", "-t", machine, "-o", "k.cu"] + [
                a for i, a in enumerate(args)
                if a == "--order" or i > 0 and args[i - 1] == "--order"]
        how = ["sim"] if "sim" in self.how else ["run", "--no-tuned"]
        machine, _, device = machine.partition("@")
        if device:
            how += ["--device", device]
        return how + ["k.axe", "--random", "--check", "-t", machine] + args

    def run(self, maker, segments, machine):
        """None if all is well, else what was said."""
        text, args, arrays = spell(maker, segments, maker.size)
        with open(os.path.join(self.folder, "k.axe"), "w") as f:
            f.write(text)
        for name, (kind, shape) in arrays.items():
            numpy.save(os.path.join(self.folder, name), make_array(kind, shape))
        command = [self.axe] + self.command(machine, args)
        env = dict(os.environ, NO_COLOR="1",
                   PTX_CC=re.sub(r"\D", "", machine))
        if self.how == "opencl" and not env.get("OPENCL_OPTIMISE"):
            env["AXE_OPENCL_OPTIONS"] = "-cl-opt-disable"
        try:
            p = subprocess.run(command, cwd=self.folder, capture_output=True,
                               text=True, errors="replace", timeout=120,
                               env=env)
        except subprocess.TimeoutExpired:
            return "%s\nno end within 120 s: %s" % (text, " ".join(command))
        self.n_run += 1
        said = p.stdout + p.stderr
        if p.returncode == 0:
            return None
        errors = [x for x in said.splitlines() if "error:" in x]
        known = p.returncode == 1 and errors and "WRONG" not in said and \
            not any(x in said for x in INNER)
        races = p.returncode == 1 and not errors and "WRONG" not in said and \
            os.environ.get("AXE_RACES") == "0"
        if known or races:
            self.n_refused += 1
            why = re.sub(r"`[^`]*`|\d+", "_",
                         errors[0].split("error:")[1] if known else "a finding")
            self.reasons[why] = self.reasons.get(why, 0) + 1
            return None
        return "%s\n%s\nexit code %d\n%s" % (
            text, " ".join(command), p.returncode, said[-1500:])


def main():
    axe = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    bad = 0
    for how in sys.argv[4:] or ["sim"]:
        with tempfile.TemporaryDirectory() as folder:
            j = Judge(axe, folder, how)
            machines = MACHINES if "opencl" not in how else \
                opencl_machines(axe)
            if not machines:
                print("%s: skipped, there is no device" % how)
                continue
            for s in range(seed, seed + count):
                maker, machine = maker_of(s), machines[s // 3 % len(machines)]
                segments = maker.segments
                for n in range(len(segments)):
                    said = j.run(maker, segments[n:n + 1], machine)
                    if said:
                        bad += 1
                        print("seed %d, segment %d, %s:\n%s" % (s, n, how,
                                                               said))
            print("%s: %d runs, %d refused, %d wrong" % (
                how, j.n_run, j.n_refused, bad))
            for why, n in sorted(j.reasons.items(), key=lambda x: -x[1]):
                if os.environ.get("AXE_REASONS"):
                    print("%6d %s" % (n, why[:150]))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
