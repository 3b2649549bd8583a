"""How long a run is, what each step's learning rate is, and after which steps something happens. Pure."""

import math
from dataclasses import dataclass

from lyricsim_models.batches import steps_per_epoch
from lyricsim_models.config import Recipe


@dataclass(frozen=True)
class Schedule:
    """Linear warm-up, then linear decay to 0 at the end (paper, section 5.3).

    A function of the step and not an object that is stepped: nothing can step it too often.

    Args:
        total: optimizer steps of the whole run.
        warmup: steps of the rise.
    """

    total: int
    warmup: int = 0

    def share(self, step: int) -> float:
        """Learning rate of optimizer step ``step``, from 0, as a share of its highest value, 0 to 1."""
        if step < self.warmup:
            return step / self.warmup
        return max(0.0, (self.total - step) / max(1, self.total - self.warmup))


@dataclass(frozen=True)
class Course:
    """The course of a run.

    Args:
        per_epoch: optimizer steps of an epoch.
        total: optimizer steps of the run.
        schedule: of the learning rate.
        checkpoint_every: steps between checkpoints, besides those at evaluations; None: no others.
    """

    per_epoch: int
    total: int
    schedule: Schedule
    checkpoint_every: int | None = None

    def place(self, step: int) -> tuple[int, int]:
        """Epoch and step within it, both from 0, of a step of the whole run."""
        return divmod(step, self.per_epoch)

    def evaluates_after(self, done: int) -> bool:
        """Whether the model is scored once ``done`` steps are taken: at epoch ends and at the very end."""
        return done % self.per_epoch == 0 or done == self.total

    def saves_after(self, done: int) -> bool:
        """Whether a checkpoint is due once ``done`` steps are taken."""
        every = self.checkpoint_every
        return self.evaluates_after(done) or (every is not None and done % every == 0)


def course_of(rows: int, recipe: Recipe, checkpoint_every: int | None = None) -> Course:
    """The course that a recipe takes over ``rows`` training rows; ``max_steps`` wins over ``epochs``."""
    per_epoch = steps_per_epoch(rows, recipe.global_batch_size)
    total = recipe.max_steps or per_epoch * recipe.epochs
    # Rounded up, as transformers does.
    schedule = Schedule(total, math.ceil(total * recipe.warmup_ratio))
    return Course(per_epoch, total, schedule, checkpoint_every)
