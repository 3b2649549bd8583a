"""Several encoder processes under one command, when Accelerate launched them."""

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoders.base import Tokens

Encode = Callable[[Sequence[Tokens]], np.ndarray]

# The other processes wait while the first one trains heads: longer than any head takes.
_PATIENCE = timedelta(days=30)
_log = logging.getLogger(__name__)


@dataclass
class Processes:
    """This process among those of the launch; the first one runs the tasks, the others only encode.

    Args:
        rank: this process's number, from 0.
        count: how many there are.
        local_rank: its number on this machine, which is also its accelerator's.
        encoded: how many sentences it has encoded for the launch.
    """

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    encoded: int = 0

    @property
    def is_first(self) -> bool:
        """Whether this process runs the tasks."""
        return self.rank == 0

    def encode(self, encode: Encode, sentences: Sequence[Tokens]) -> np.ndarray:
        """In the first process: vectors of all sentences, shape (n, d), each process encoding its share.

        Raises:
            UserError: a process, this one or another, could not encode its share.
        """
        if self.count == 1 or not sentences:
            return encode(sentences)
        _broadcast(list(sentences))
        gathered = _gather(self._share(encode, sentences))
        failures = [part for part in gathered if isinstance(part, str)]
        if failures:
            raise UserError(
                f"an encoder process failed: {failures[0]}", "vectors from every process", "see its message"
            )
        parts = [part for part in gathered if isinstance(part, np.ndarray) and len(part)]
        return _interleaved(parts, len(sentences), self.count)

    def serve(self, encode: Encode) -> None:
        """In the others: encode shares until :meth:`stop` is called in the first process."""
        while (sentences := _broadcast(None)) is not None:
            _gather(self._share(encode, sentences))

    def stop(self) -> None:
        """In the first process: let the others end."""
        if self.count > 1:
            _broadcast(None)

    def close(self) -> None:
        """In every process: say what it did and leave the group."""
        if self.count > 1:
            from accelerate import PartialState

            _log.info("process %d encoded %d sentences", self.rank, self.encoded)
            PartialState().destroy_process_group()

    def _share(self, encode: Encode, sentences: Sequence[Tokens]) -> np.ndarray | str:
        """Every count-th sentence, so that lengths are spread evenly; an error travels as its text."""
        share = sentences[self.rank :: self.count]
        self.encoded += len(share)
        try:
            return encode(share) if share else np.empty((0, 0), np.float32)
        except (ValueError, RuntimeError, OSError) as error:
            return f"process {self.rank}: {error}"
        # Whatever fails here must reach the others before they wait for this process for ever.
        except Exception as error:  # noqa: BLE001
            _log.exception("process %d could not encode", self.rank)
            return f"process {self.rank}: {type(error).__name__}: {error}"


def launched_processes() -> Processes:
    """The processes of this launch: one, unless Accelerate (or torchrun) started several.

    Raises:
        UserError: several were started, but they do not know of each other.
    """
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return Processes()
    import torch
    from accelerate import PartialState

    state = PartialState(cpu=not torch.cuda.is_available(), timeout=_PATIENCE)
    if state.num_processes != world:
        raise UserError(
            f"{world} processes were started, but each believes that there are {state.num_processes}",
            "processes that share the work",
            "start them with: ACCELERATE_USE_CPU=true accelerate launch --multi_gpu --num_processes 2 …",
        )
    return Processes(state.process_index, state.num_processes, state.local_process_index)


def _interleaved(parts: Sequence[np.ndarray], n: int, count: int) -> np.ndarray:
    out = np.empty((n, parts[0].shape[1]), dtype=np.float32)
    for rank, part in enumerate(parts):
        out[rank::count] = part
    return out


def _broadcast(sentences: list[Tokens] | None) -> list[Tokens] | None:
    from accelerate.utils import broadcast_object_list

    sent: list[Any] = [sentences]
    received: list[Tokens] | None = broadcast_object_list(sent)[0]
    return received


def _gather(part: np.ndarray | str) -> list[np.ndarray | str]:
    from accelerate.utils import gather_object

    gathered: list[np.ndarray | str] = gather_object([part])
    return gathered
