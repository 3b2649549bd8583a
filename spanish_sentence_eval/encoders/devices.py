"""Where an encoder runs."""

from lyricsim_tools.errors import UserError


def choose_device(wanted: str = "auto") -> str:
    """The device to use: the wanted one if it is there; for "auto" CUDA, else MPS, else the CPU.

    Raises:
        UserError: the wanted device does not exist on this machine.
    """
    import torch

    available = ["cpu"]
    if torch.cuda.is_available():
        available = ["cuda", *(f"cuda:{i}" for i in range(torch.cuda.device_count())), *available]
    if torch.backends.mps.is_available():
        available = ["mps", *available]
    if wanted == "auto":
        return "cuda" if "cuda" in available else available[0]
    if wanted not in available:
        raise UserError(
            f"device {wanted!r}",
            f"one of auto, {', '.join(available)} on this machine",
            "choose another --device",
        )
    return wanted
