"""The training of one run: steps, evaluations, checkpoints."""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from tqdm import tqdm

from lyricsim_models import checkpoints, encoders, exports
from lyricsim_models.batches import rows_of_step
from lyricsim_models.checkpoints import Position
from lyricsim_models.config import Recipe
from lyricsim_models.course import Course, course_of
from lyricsim_models.encoders import Loaded, SentenceScorer
from lyricsim_models.evaluation import Selection, development_scores, refuse_no_best
from lyricsim_models.job import Job, refuse_half_precision
from lyricsim_models.loop import Batch, Learner, StepResult, TrainingData, score_rows
from lyricsim_models.optimization import build_optimizer
from lyricsim_models.pair_table import PairTable
from lyricsim_models.pairs import TokenRows, concatenate
from lyricsim_models.registry import resolve
from lyricsim_models.run_folder import Log
from lyricsim_models.signals import Interrupted, StopRequest
from lyricsim_models.team import refuse_disagreement
from lyricsim_models.workers import Workers
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError

# Beside the best weights: what they predicted for the development set when they were chosen.
DEVELOPMENT_FILE = "development.json"


@dataclass(frozen=True)
class Facts:
    """What a run found out about its model and data before the first step.

    Args:
        max_length: most tokens of a sequence.
        truncated: split → pairs that lost tokens.
        training_rows: rows of an epoch.
        revision: commit of the checkpoint on the Hub; None for a folder.
        model_type: of the checkpoint's configuration.
        prompt: text before each lyric.
    """

    max_length: int
    truncated: dict[str, int]
    training_rows: int
    revision: str | None
    model_type: str
    prompt: str


class Training:
    """One run's model on its way.

    Args:
        job: what to do.
        splits: the pairs.
        workers: the processes.
        request: whether this process was asked to stop.
    """

    def __init__(
        self, job: Job, splits: Mapping[str, PairTable], workers: Workers, request: StopRequest
    ) -> None:
        self.job, self.workers, self.request = job, workers, request
        self.recipe: Recipe = job.recipe
        self.loaded = _load(job, workers)
        self.batch = Batch(self.loaded.pad_id, self.loaded.max_length)
        self.development = Development.of(self.loaded, splits.get("validation"), self.recipe)
        data = training_data(self.loaded, splits["train"], self.recipe)
        self.course: Course = course_of(len(data.rows), self.recipe, job.checkpoint_every)
        self.facts = self._facts(data)
        self.restored = checkpoints.latest(job.output)
        refuse_disagreement(workers, {"checkpoint in --output": self.restored and self.restored.name})
        self.loaded.scorer.to(workers.device)
        if isinstance(self.loaded.scorer, SentenceScorer) and self.restored is None:
            self._start_line(self.loaded.scorer, data)
        optimizer = build_optimizer(self.loaded.scorer, self.recipe)
        module = workers.prepare(self.loaded.scorer, optimizer, self.recipe.per_device_batch_size)
        self.learner = Learner(workers, module, data, self.recipe, job.seed, request)

    def _facts(self, data: TrainingData) -> Facts:
        config = self.loaded.scorer.encoder.config
        truncated = {"train": int(data.rows.truncated.sum())}
        if self.development:
            truncated["validation"] = int(self.development.forward.truncated.sum())
        return Facts(
            self.loaded.max_length,
            truncated,
            len(data.rows),
            getattr(config, "_commit_hash", None),
            str(config.model_type),
            self.loaded.prompt,
        )

    def _start_line(self, scorer: SentenceScorer, data: TrainingData) -> None:
        """Start from the line that fits the untrained cosines best, in the least-squares sense."""
        scorer.line.data = torch.tensor([1.0, 0.0], device=self.workers.device)
        per_device = self.recipe.per_device_batch_size
        cosines = score_rows(self.workers, scorer, data.rows, self.batch, per_device, exact=True)
        if np.ptp(cosines) > 0:
            slope, intercept = np.polyfit(cosines, data.scores.astype(np.float64), 1)
            scorer.line.data = torch.tensor(
                [slope, intercept], dtype=torch.float32, device=self.workers.device
            )

    def go(self) -> Position:
        """Take all steps that are left; returns where the run ended.

        Raises:
            Interrupted: a signal came; a checkpoint was written.
            NotFiniteError: a loss or gradient is not finite.
            UserError: no development score was ever defined; a checkpoint could not be written.
        """
        position = self._restore()
        self.log = Log(self.job.output, position.step) if self.workers.is_main else None
        self.started = time.monotonic() - position.seconds
        self._say(self._plan())
        total = self.course.total
        quiet = None if self.workers.is_main else True
        with tqdm(total=total, initial=position.step, desc="training", unit="step", disable=quiet) as bar:
            for step in range(position.step, total):
                if position.selection.exhausted(self.recipe.patience):
                    break
                position = self._advance(position, step)
                bar.update()
        # A signal may have come after the last step was asked, while its checkpoint was chosen and written.
        self._stop_if_asked(position)
        if self.development:
            refuse_no_best(position.selection)
        return position

    def release(self) -> None:
        """Let go of the wrapped module; ``facts`` stay.

        Under data parallelism one that outlives its process group may keep the process from ending: its own
        end waits for the group's threads, and these wait for the interpreter.
        """
        del self.learner
        self.workers.release()

    def _plan(self) -> str:
        """What is about to happen, in one line."""
        recipe, workers = self.recipe, self.workers
        cut = sum(self.facts.truncated.values())
        last = "" if self.development else "; no validation split, so the last weights are kept"
        return (
            f"{self.facts.training_rows} training rows, {self.course.per_epoch} steps an epoch, "
            f"{self.course.total} in all; global batch {recipe.global_batch_size} over {workers.world} "
            f"process(es) of at most {recipe.per_device_batch_size} rows at once; topology "
            f"{workers.topology}, mixed precision {workers.mixed_precision}; at most "
            f"{self.facts.max_length} tokens, {cut} pairs cut{last}"
        )

    def _restore(self) -> Position:
        if self.restored is None:
            return Position(world=self.workers.world, topology=self.workers.topology)
        position = checkpoints.read_position(self.restored)
        _refuse_other_spread(position, self.workers)
        self.workers.load_state(self.restored)
        self._say(f"resumed at step {position.step} of {self.course.total}")
        return replace(position, world=self.workers.world, topology=self.workers.topology)

    def _advance(self, position: Position, step: int) -> Position:
        epoch, within = self.course.place(step)
        data = self.learner.data
        rows = rows_of_step(self.job.seed, epoch, within, len(data.rows), self.recipe.global_batch_size)
        result = self.learner.step(rows, self.course.schedule.share(step), step)
        position = replace(position, step=step + 1, seconds=time.monotonic() - self.started)
        self._record(position.step, epoch, result)
        if self.course.evaluates_after(position.step):
            position = replace(position, selection=self._evaluate(position, epoch))
        if self.course.saves_after(position.step) or result.interrupted:
            checkpoints.save(self.workers, self.job.output, position)
        if result.interrupted:
            self._stop_if_asked(position)
        return position

    def _record(self, step: int, epoch: int, result: StepResult) -> None:
        values = {
            "loss": result.loss,
            "learning_rate": result.rate,
            "gradient_norm": result.gradient_norm,
        }
        self.workers.track({f"train/{name}": value for name, value in values.items()}, step)
        if self.log:
            self.log.add(step=step, epoch=epoch + 1, **values)
        self.last_loss = result.loss

    def _evaluate(self, position: Position, epoch: int) -> Selection:
        if self.development is None:
            selection = Selection(None, position.step, 0)
            if position.step == self.course.total:
                self._export(position.step, [])
            self._say(f"epoch {epoch + 1}: step {position.step}, loss {self.last_loss:.4f}")
            return selection
        found = self.development.predict(self.workers, self.learner.module, self.batch, self.recipe)
        scores = development_scores(found, self.development.gold)
        selection = position.selection.after(scores["combined_score"], position.step)
        if selection.step == position.step:
            self._export(position.step, found.tolist())
        self._report(position.step, epoch, scores, selection)
        return selection

    def _report(
        self, step: int, epoch: int, scores: Mapping[str, float | None], selection: Selection
    ) -> None:
        known = {name: value for name, value in scores.items() if value is not None}
        self.workers.track({f"validation/{name}": value for name, value in known.items()}, step)
        if self.log:
            self.log.add(step=step, epoch=epoch + 1, split="validation", **scores)
        shown = ", ".join(f"{name} {'undefined' if v is None else f'{v:.4f}'}" for name, v in scores.items())
        best = " (best so far)" if selection.step == step else ""
        self._say(f"epoch {epoch + 1}: step {step}, loss {self.last_loss:.4f}, validation {shown}{best}")

    def _export(self, step: int, predictions: list[float]) -> None:
        """Keep the present weights as the folder that the run will hand over if nothing better comes."""
        weights = self.workers.full_weights(self.learner.module)
        folder = checkpoints.best_folder(self.job.output, step)

        def write() -> None:
            if self.workers.is_main:
                exports.write_model(folder, self.loaded, weights)
                write_json(folder / DEVELOPMENT_FILE, predictions)

        self.workers.together(write)

    def _stop_if_asked(self, position: Position) -> None:
        number = max(self.workers.gather([self.request.received or 0]))
        if not number:
            return
        self._say(f"stopped by signal {number} after step {position.step}; go on with --resume")
        raise Interrupted(128 + number)

    def _say(self, text: str) -> None:
        if self.workers.is_main:
            tqdm.write(text, file=sys.stderr)


def _refuse_other_spread(position: Position, workers: Workers) -> None:
    if position.topology and _sharding(position.topology) != _sharding(workers.topology):
        raise UserError(
            f"a checkpoint of topology {position.topology}, resumed under {workers.topology}",
            "the same: neither reads the other's checkpoints",
            "launch with the configuration that the run began with, or begin again with --overwrite",
        )
    if workers.topology == "DEEPSPEED" and position.world != workers.world:
        raise UserError(
            f"a checkpoint of {position.world} DeepSpeed processes, resumed by {workers.world}",
            "the same number of processes",
            f"launch with --num_processes {position.world}",
        )


def _sharding(topology: str) -> str | None:
    """What cuts a topology's checkpoints into shards; None where they are whole."""
    return topology if topology in ("FSDP", "DEEPSPEED") else None


def _load(job: Job, workers: Workers) -> Loaded:
    model = resolve(job.model)
    loaded = encoders.load(model, job.recipe, job.seed)
    refuse_half_precision(model, str(loaded.scorer.encoder.config.model_type), workers.mixed_precision)
    return loaded


def training_data(loaded: Loaded, table: PairTable, recipe: Recipe) -> TrainingData:
    """Tokenised training rows; with swap augmentation each pair twice, once in each order."""
    rows = loaded.tokenize(list(table.lyrics_1), list(table.lyrics_2))
    scores = np.asarray(table.gold, dtype=np.float32)
    pair_ids = list(table.pair_ids)
    if recipe.swap_augmentation:
        swapped = loaded.tokenize(list(table.lyrics_2), list(table.lyrics_1))
        rows, scores, pair_ids = concatenate([rows, swapped]), np.tile(scores, 2), pair_ids * 2
    return TrainingData(rows, scores, pair_ids, Batch(loaded.pad_id, loaded.max_length))


@dataclass(frozen=True)
class Development:
    """The development set.

    Args:
        forward: its rows.
        backward: the same pairs in the other order, where both orders are scored.
        gold: gold scores, shape (n,).
    """

    forward: TokenRows
    backward: TokenRows | None
    gold: NDArray[np.float64]

    @classmethod
    def of(cls, loaded: Loaded, table: PairTable | None, recipe: Recipe) -> "Development | None":
        """Tokenise a development split; None where there is none."""
        if table is None:
            return None
        first, second = list(table.lyrics_1), list(table.lyrics_2)
        both = recipe.symmetric and recipe.architecture == "cross-encoder"
        backward = loaded.tokenize(second, first) if both else None
        return cls(loaded.tokenize(first, second), backward, np.asarray(table.gold))

    def predict(
        self, workers: Workers, module: nn.Module, batch: Batch, recipe: Recipe
    ) -> NDArray[np.float64]:
        """A model's scores of this set's pairs, shape (n,)."""
        per_device = recipe.per_device_batch_size
        found = score_rows(workers, module, self.forward, batch, per_device)
        if self.backward is not None:
            found = (found + score_rows(workers, module, self.backward, batch, per_device)) / 2
        return found
