"""What tests share.  Kernels run on one thread unless a test says otherwise: the
tests are about what is called, not about how fast."""
import os

import pytest

import axe

os.environ["AXE_TUNED"] = ""  # what was tuned here is no part of the tests


@pytest.fixture(autouse=True)
def one_thread(request):
    if request.node.get_closest_marker("all_threads"):
        yield
        return
    with _device:
        yield


_device = axe.Device(threads=1)


def pytest_configure(config):
    config.addinivalue_line("markers", "all_threads: on the default device")
