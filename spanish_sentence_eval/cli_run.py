"""The command's ``run``: options → checked data, an encoder, a run."""

import argparse
import logging
import os
from pathlib import Path
from typing import Any

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.cli_options import chosen_tasks
from spanish_sentence_eval.encoders import SHORT_NAMES, Encoder, EncoderOptions, build_encoder
from spanish_sentence_eval.encoders.devices import choose_device
from spanish_sentence_eval.encoders.registry import kind_of
from spanish_sentence_eval.manifest import TaskFiles, check_files, data_folder, files_of, missing_files
from spanish_sentence_eval.params import read_settings
from spanish_sentence_eval.processes import Processes, launched_processes
from spanish_sentence_eval.runner import Request, run
from spanish_sentence_eval.tasks import TASKS

_log = logging.getLogger(__name__)


def run_command(args: argparse.Namespace) -> dict[str, Any] | None:
    """Run what the command line asks for.

    Returns:
        The results document; None in processes that only encoded for the first one.

    Raises:
        UserError: a task, a file, a setting or the model is not as it should be; nothing has run then.
    """
    names = chosen_tasks(args)
    if not names:
        raise UserError("none of the tasks asked for exists", "a task", "see: spanish-senteval list")
    folder = data_folder(args.data)
    tasks, skipped = _checked_tasks(names, folder, args)
    processes = launched_processes()
    device = _device_of(args.device, processes)
    settings = _settings(args, folder, device)
    encoder = _load(args, device)
    request = Request(tasks, settings, skipped, _cache_of(args), args.output, not args.no_items)
    return _run_or_serve(request, encoder, processes)


def _run_or_serve(request: Request, encoder: Encoder, processes: Processes) -> dict[str, Any] | None:
    try:
        if not processes.is_first:
            processes.serve(encoder.encode)
            return None
        _log.info("encoder processes: %d", processes.count)
        try:
            return run(request, encoder, processes)
        finally:
            processes.stop()
    finally:
        processes.close()


def _checked_tasks(
    names: list[str], folder: Path, args: argparse.Namespace
) -> tuple[dict[str, TaskFiles], dict[str, str]]:
    paths = {name: files_of(TASKS[name]) for name in names}
    absent = {name for name in names if missing_files(folder, paths[name])} if args.skip_missing else set()
    if len(absent) == len(names):
        raise UserError(
            f"none of {', '.join(names)} has all its files in {folder}",
            "the data of at least one task",
            f"run: spanish-senteval fetch --data {args.data}",
        )
    kept = [name for name in names if name not in absent]
    checked = {name: check_files(folder, name, paths[name], args.any_data) for name in kept}
    return checked, {name: "files absent" for name in names if name in absent}


def _device_of(wanted: str, processes: Processes) -> str:
    """The device of this process: with several on one machine, each has the accelerator of its number."""
    device = choose_device(wanted)
    if device == "cuda" and processes.count > 1:
        return choose_device(f"cuda:{processes.local_rank}")
    return device


def _settings(args: argparse.Namespace, folder: Path, device: str) -> dict[str, Any]:
    settings = {
        "task_path": str(folder),
        "usepytorch": not args.sklearn,
        "seed": args.seed,
        "kfold": args.kfold,
        "protocol": args.protocol,
        "path": args.path,
        "device": device,
        "threads": args.threads,
        "classifier": {
            "nhid": args.nhid,
            "optim": args.optim,
            "batch_size": args.head_batch_size,
            "tenacity": args.tenacity,
            "epoch_size": args.epoch_size,
            "max_epoch": args.max_epoch,
            "dropout": args.dropout,
        },
    }
    read_settings(settings)
    return settings


def _load(args: argparse.Namespace, device: str) -> Encoder:
    note = SHORT_NAMES[args.model].note if args.model in SHORT_NAMES else ""
    if note:
        _log.info("%s: %s", args.model, note)
    if (args.encoder or kind_of(args.model)) in ("transformer", "sentence-transformers"):
        _hush_libraries()
    return build_encoder(args.model, _encoder_options(args, device), args.encoder)


def _hush_libraries() -> None:
    """No bars and reports of the model libraries: what matters of them this command says itself."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()


def _encoder_options(args: argparse.Namespace, device: str) -> EncoderOptions:
    if args.batch_size < 1:
        raise UserError(f"--batch-size {args.batch_size}", "at least 1", "correct it")
    return EncoderOptions(
        protocol=args.protocol,
        layer=args.layer,
        pooling=args.pooling,
        prompt=args.prompt,
        precision=args.precision,
        device=device,
        batch_size=args.batch_size,
        revision=args.revision,
        model_path=args.model_path,
    )


def _cache_of(args: argparse.Namespace) -> Path | None:
    if args.no_cache:
        return None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return args.cache or Path(home) / "spanish-senteval"
