"""The exact path against torch's own modules, trained in the plainest way with the global generators."""

import numpy as np
import pytest
import torch

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.heads.exact import ExactTorch, layer
from spanish_sentence_eval.heads.fitting import Job, Table
from spanish_sentence_eval.params import Classifier
from spanish_sentence_eval.protocol import Schedule


@pytest.mark.parametrize("seed", [0, 1111])
def test_layers_are_drawn_as_torchs_linear_draws_them(seed: int) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        expected = [torch.nn.Linear(37, 50), torch.nn.Linear(50, 3)]
    generator = torch.Generator().manual_seed(seed)
    for module in expected:
        weight, bias = layer(module.in_features, module.out_features, generator)
        assert torch.equal(weight, module.weight)
        assert torch.equal(bias, module.bias)


def _table(rows: int, width: int, classes: int) -> Table:
    stream = np.random.RandomState(3)
    x = stream.randn(rows, width).astype(np.float32)
    y = (x[:, :classes] + 0.5 * stream.randn(rows, classes)).argmax(1)
    return Table(x, y, classes)


def _plainly(
    table: Table, job: Job, classifier: Classifier, seed: int, strength: float
) -> tuple[float, list[int]]:
    np.random.seed(seed)
    torch.manual_seed(seed)
    train, dev = job.train, job.dev
    if dev is None:
        order = np.random.permutation(len(train))
        count = int(0.05 * len(train))
        train, dev = train[order[count:]], train[order[:count]]
    x, y = torch.tensor(table.x), torch.tensor(table.y)
    model: torch.nn.Module = torch.nn.Linear(x.shape[1], table.classes)
    if classifier.nhid:
        hidden = torch.nn.Linear(x.shape[1], classifier.nhid)
        del model
        torch.manual_seed(seed)
        hidden = torch.nn.Linear(x.shape[1], classifier.nhid)
        last = torch.nn.Linear(classifier.nhid, table.classes)
        model = torch.nn.Sequential(hidden, torch.nn.Dropout(classifier.dropout), torch.nn.Sigmoid(), last)
    optimiser = torch.optim.Adam(model.parameters(), weight_decay=strength)
    best, bad, done, kept = -1.0, 0, 0, {}
    while done <= classifier.max_epoch and bad <= classifier.tenacity:
        model.train()
        for _ in range(classifier.epoch_size):
            order = np.random.permutation(len(train))
            for i in range(0, len(train), classifier.batch_size):
                rows = train[order[i : i + classifier.batch_size]]
                optimiser.zero_grad()
                torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
                optimiser.step()
        done += classifier.epoch_size
        model.eval()
        score = (model(x[dev]).argmax(1) == y[dev]).double().mean().item()
        if score > best:
            best, kept = score, {k: v.clone() for k, v in model.state_dict().items()}
        else:
            bad += 1
    model.load_state_dict(kept)
    return best, model(x[job.test]).argmax(1).tolist()


@pytest.mark.parametrize("dev", [np.arange(200, 260), None])
@pytest.mark.parametrize(("nhid", "dropout"), [(0, 0.0), (12, 0.0), (12, 0.3)])
def test_a_fit_is_the_one_of_global_generators_and_plain_modules(
    dev: np.ndarray | None, nhid: int, dropout: float
) -> None:
    classifier = Classifier(nhid=nhid, dropout=dropout, batch_size=16, tenacity=2, epoch_size=2, max_epoch=9)
    table, job = _table(330, 10, 3), Job(np.arange(200), dev, np.arange(260, 330), (1e-3,))
    head = ExactTorch(classifier, Schedule.of(classifier, "compatible"), 7, "cpu")
    [[fit]] = head.fit(table, [job])
    states = np.random.get_state(), torch.get_rng_state()
    try:
        expected = _plainly(table, job, classifier, 7, 1e-3)
    finally:
        np.random.set_state(states[0])
        torch.set_rng_state(states[1])
    assert (fit.dev, fit.predicted.tolist()) == expected


@pytest.mark.parametrize(
    "optimiser", ["sgd,lr=0.1", "adamax", "adagrad", "rprop", "rmsprop,lr=0.01", "asgd", "adadelta"]
)
def test_every_optimiser_of_the_grammar_learns(optimiser: str) -> None:
    classifier = Classifier(optim=optimiser, max_epoch=40)
    head = ExactTorch(classifier, Schedule.of(classifier, "compatible"), 7, "cpu")
    [[fit]] = head.fit(_table(300, 6, 2), [Job(np.arange(200), np.arange(200, 300), np.arange(0), (1e-5,))])
    assert 0.4 < fit.dev <= 1


@pytest.mark.parametrize(
    "text", ["adamm", "sgd", "adam,lr", "adam,lr=fast", "adam,lr=nan", "adam,speed=2", "adam,lr=-1"]
)
def test_an_optimiser_that_torch_has_not_is_refused(text: str) -> None:
    classifier = Classifier(optim=text)
    with pytest.raises(UserError, match=r"classifier\['optim'\] is"):
        ExactTorch(classifier, Schedule.of(classifier, "compatible"), 7, "cpu").fit(
            _table(40, 3, 2), [Job(np.arange(30), np.arange(30, 40), np.arange(0), (1e-5,))]
        )
