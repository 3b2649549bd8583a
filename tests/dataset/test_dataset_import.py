import json
import subprocess
import sys

import pytest

from lyricsim_dataset.cli import main
from lyricsim_dataset.verify import read_record

HEAVY = ("torch", "transformers", "matplotlib", "datasets", "pandas", "pyarrow", "sklearn", "scipy")


@pytest.mark.parametrize("module", ["lyricsim_dataset", "lyricsim_dataset.cli"])
def test_importing_the_package_imports_nothing_heavy(module):
    code = f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(json.loads(done.stdout))


def test_building_needs_neither_torch_nor_transformers_nor_matplotlib():
    code = "import sys, json, lyricsim_dataset.publish; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "matplotlib"} & set(json.loads(done.stdout))


@pytest.mark.parametrize("command", [[], ["build"], ["report"], ["verify"], ["push"]])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert "usage: lyricsim-dataset" in capsys.readouterr().out


def test_a_command_is_needed(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


def test_build_verify_and_report_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["build", "--sample"]) == 0
    printed = capsys.readouterr().out
    assert 'load_dataset("lyricsim-sample", "filtered")' in printed
    for split in read_record(tmp_path / "lyricsim-sample")["splits"].values():
        assert split["digest"] in printed
    assert main(["verify", "lyricsim-sample", "--json"]) == 0
    assert {check["problem"] for check in json.loads(capsys.readouterr().out)} == {None}
    (tmp_path / "lyricsim-sample" / "songs" / "train-00000-of-00001.parquet").unlink()
    assert main(["verify", "lyricsim-sample"]) == 1
    assert "missing" in capsys.readouterr().out
    assert main(["report", "--sample", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["counts"]["pairs"] == 276
    assert "permutations: 100%" in printed.err
    assert main(["verify", "nowhere"]) == 2
    assert "holds no build.json" in capsys.readouterr().err


def test_a_useless_number_of_raters_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["build", "--sample", "--min-raters", "0"]) == 2
    assert "expected: a whole number of at least 1" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_source_and_the_sample_exclude_each_other(capsys):
    with pytest.raises(SystemExit):
        main(["build", "--sample", "--source", "somewhere"])
    assert "not allowed with argument" in capsys.readouterr().err
