"""A tiny study from its files to its verdict, on the stand-in engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import frames
import standins
from homenode.errors import NotFoundError, StudyError
from homenode.evidence.study import Standing, StudyResult, calibrate_study, load_study, run_study
from homenode.simulate.kept.query import query
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

STUDY = """\
title = "two frames"
source = "nobody"
claim = "sharing a node costs cores"
assumptions = ["nothing else runs"]

[[case]]
name = "far-apart"
scenario = "apart.toml"
partition = "one"

[[case]]
name = "shared"
scenario = "together.toml"
partition = "three"

[[case]]
name = "also-shared"
scenario = "together.toml"
partition = "four"

[[case]]
name = "full"
scenario = "apart.toml"
partition = "one"
set = { "partition.one.virtual" = 5 }

[[ratio]]
name = "price"
of = ["shared", "also-shared"]
to = ["far-apart"]

[[explain]]
case = "shared"
base = "far-apart"

[[calibrate]]
name = "work"
parameter = "partitions.*.profile.instructions_per_unit"
rows = ["far-apart:physc"]
bounds = [1e6, 1e9]
unit = "instructions"
"""
PUBLISHED = """\
case,metric,value,unit,role,reading,tolerance,why
far-apart,physc,9,cores,calibration,text,2%,
shared,physc,10.5..11.5,cores,validation,text,0%,
shared,ilcs_per_s,10000,1/s,validation,text,10%,the stand-in knows no better
shared,user_pct,89.5,%,validation,text,1,
shared,vcsw_per_s,2000,1/s,validation,text,x10,
price,physc,1.2,,validation,text,0.05,
full,response_ms_mean,50,ms,validation,text,5%,
"""


@pytest.fixture
def root(fake: ModuleType, files: Callable[[str, str], Path]) -> Path:
    files("studies/tiny/study.toml", STUDY)
    files("studies/tiny/published.csv", PUBLISHED)
    files("studies/tiny/scenarios/apart.toml", standins.APART)
    files("studies/tiny/scenarios/together.toml", standins.TOGETHER)
    return Path("studies")


def run(root: Path) -> StudyResult:
    return run_study(load_study("tiny", root))


def test_cases_of_one_scenario_share_a_run(root: Path) -> None:
    result = run(root)
    assert result.runs["shared"].id == result.runs["also-shared"].id
    assert result.runs["far-apart"].id != result.runs["full"].id
    assert len(list(Path("runs/studies/tiny").iterdir())) == 3
    kept = result.runs["full"].path / "scenario.toml"
    assert "# set by the study: partition.one.virtual = 5" in kept.read_text()


def test_a_study_keeps_its_runs_apart(root: Path) -> None:
    own = run_scenario(frames.near_and_far()[0], replications=1)
    kept = run(root).runs["far-apart"]
    assert kept.path == Path("runs/studies/tiny", kept.id)
    assert Run.load().id == own.id
    assert [one.id for one in Run.all()] == [own.id]
    assert query("SELECT run FROM runs")["run"].to_list() == [own.id]
    # One's own comes first where both are called so; a study's own id is enough for the other.
    assert Run.load("apart").id == own.id
    assert Run.load(kept.id).path == Run.load(kept.path).path == kept.path
    assert Run.load("together").path.parent == kept.path.parent
    assert kept.id in {one.id for one in Run.all("runs/studies/tiny")}
    with pytest.raises(NotFoundError, match="did you mean together-"):
        Run.load("togetter")


def test_the_runs_of_a_study_alone_are_no_latest(root: Path) -> None:
    kept = run(root).runs["far-apart"]
    with pytest.raises(NotFoundError, match="runs holds none"):
        Run.load()
    assert Run.load(kept.id).id == kept.id


def test_json_has_the_agreed_form(root: Path) -> None:
    told = json.loads(json.dumps(run(root).as_json()))
    assert list(told) == ["study", "rows", "counts", "not_fitted", "mape"]
    assert set(told["mape"]) == {"calibration", "informed", "validation"}
    keys = [
        "case", "metric", "unit", "published", "simulated", "ci95", "deviation_pct", "tolerance",
        "agrees", "role", "by_construction", "within", "not_modelled", "null", "null_within",
    ]  # fmt: skip
    assert all(list(row) == keys for row in told["rows"])
    assert [row["tolerance"] for row in told["rows"][3:6]] == ["±1", "x10", "±0.05"]
    assert told["rows"][1]["published"] == [10.5, 11.5]
    assert [row["within"] for row in told["rows"]] == [True, True, False, True, True, True, False]


def test_deviations_by_hand(root: Path) -> None:
    result = run(root)
    by_key = {c.published.key: c for c in result.comparisons}
    assert by_key["shared:ilcs_per_s"].deviation_pct == pytest.approx(100 * (7680 / 10000 - 1))
    assert by_key["price:physc"].simulated.mean == pytest.approx(10.945 / 9.012, rel=1e-3)
    assert by_key["price:physc"].simulated.ci95 is not None
    assert by_key["shared:vcsw_per_s"].factor == pytest.approx(5.0)
    full = by_key["full:response_ms_mean"]
    assert full.simulated.mean is None
    assert "5 virtual processors are always busy" in str(full.simulated.reason)


def test_errors_of_the_roles_are_apart(root: Path) -> None:
    result = run(root)
    assert result.mape(Standing.CALIBRATION) == pytest.approx(0.1, abs=0.15)
    percents = [
        abs(c.deviation_pct) for c in result.of(Standing.VALIDATION) if c.deviation_pct is not None
    ]
    assert result.mape(Standing.VALIDATION) == pytest.approx(sum(percents) / len(percents))
    kinds = {summary.kind.value: summary for summary in result.errors(Standing.VALIDATION)}
    assert kinds["percent"].rows == 3
    assert kinds["percent"].within == 1
    assert kinds["percent"].worst_row == "shared:ilcs_per_s"
    assert kinds["factor"].worst == pytest.approx(5.0)
    assert [c.published.key for c in result.misses] == [
        "shared:ilcs_per_s",
        "full:response_ms_mean",
    ]


def test_the_explanation_is_of_the_named_cases(root: Path) -> None:
    told = run(root).explanations[0]
    assert (told.breakdown.partition, told.base and told.base.partition) == ("three", "one")


def test_calibration_finds_the_work_and_changes_no_file(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    result = calibrate_study(load_study("tiny", root))
    # 900/s of 10 ms are 9 cores; the stand-in's ripple has a mean near 1.
    assert result.fitted[0].found == pytest.approx(2e7, rel=0.01)
    assert result.fitted[0].in_files == 2e7
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert not Path("runs").exists()


def test_calibration_from_far_off(root: Path, files: Callable[[str, str], Path]) -> None:
    files(
        "studies/tiny/published.csv", PUBLISHED.replace("far-apart,physc,9,", "far-apart,physc,3,")
    )
    result = calibrate_study(load_study("tiny", root))
    assert result.fitted[0].found == pytest.approx(2e7 / 3, rel=0.01)
    assert result.fitted[0].change_pct == pytest.approx(200, rel=0.02)
    assert result.comparisons[0].within


def test_two_rows_are_fitted_by_least_squares(
    root: Path, files: Callable[[str, str], Path]
) -> None:
    files(
        "studies/tiny/published.csv",
        PUBLISHED.replace("cores,validation,text,0%", "cores,calibration,text,0%")
        .replace(",9,", ",6,")
        .replace("validation", "informed"),
    )
    rows = '["far-apart:physc", "shared:physc"]'
    files("studies/tiny/study.toml", STUDY.replace('["far-apart:physc"]', rows))
    found = calibrate_study(load_study("tiny", root)).fitted[0].found
    assert 2e7 * 6 / 9 < found < 2e7 * 1.05


def test_a_row_out_of_reach_is_told(root: Path, files: Callable[[str, str], Path]) -> None:
    files("studies/tiny/study.toml", STUDY.replace("[1e6, 1e9]", "[1e6, 1e7]"))
    with pytest.raises(StudyError, match="no value between 1e"):
        calibrate_study(load_study("tiny", root))


TWICE = """[[series]]
name = "far"
scenario = "apart.toml"
processors = [2, 4]
capability = "ibm-z14"
set = { "partition.one.virtual" = [2, 4] }

[[ratio]]
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'title = "two frames"',
            "",
            "1:1: title is missing: say in a line what is held against what",
        ),
        ('title = "two frames"', "title = 2", "1:9: title = 2: text in quotes is needed here"),
        ("claim", "klaim", '3:1: unknown key "klaim": did you mean claim?'),
        (
            '["nothing else runs"]',
            '"none"',
            '4:15: assumptions = "none": a list in brackets is needed here',
        ),
        (
            'name = "shared"',
            'name = "far-apart"',
            (
                '12:8: case far-apart: name = "far-apart": far-apart stands there twice; name '
                "each once"
            ),
        ),
        (
            "together.toml",
            "nowhere.toml",
            (
                '13:12: case shared: scenario = "nowhere.toml": there is no file '
                "scenarios/nowhere.toml; did you mean together.toml?"
            ),
        ),
        (
            'partition = "three"',
            "partition = 3",
            "14:13: case shared: partition = 3: text in quotes is needed here",
        ),
        ("set = {", "sett = {", '25:1: case full: unknown key "sett": did you mean set?'),
        (
            'to = ["far-apart"]',
            'to = ["far"]',
            '30:7: ratio price: to[0] = "far": there is no such case; did you mean far-apart?',
        ),
        (
            'to = ["far-apart"]',
            "to = []",
            "30:6: ratio price: to = []: at least one entry is needed here",
        ),
        (
            'base = "far-apart"',
            'base = "shraed"',
            '34:8: explain number 1: base = "shraed": there is no such case; did you mean shared?',
        ),
        (
            "[[explain]]",
            "[explain]",
            "32:2: explain: a list is needed here; write [[explain]] for [explain]",
        ),
        (
            '["far-apart:physc"]',
            '["shared:physc"]',
            (
                '39:9: calibrate work: rows[0] = "shared:physc": there is no such calibration '
                "row; did you mean far-apart:physc?"
            ),
        ),
        (
            "[1e6, 1e9]",
            "[0, 1e9]",
            "40:10: calibrate work: bounds = [0, 1e9]: bounds must be two rising numbers above 0",
        ),
        (
            "[1e6, 1e9]",
            "[1e6]",
            "40:10: calibrate work: bounds = [1e6]: bounds must be two rising numbers above 0",
        ),
        (
            "[1e6, 1e9]",
            "[1e6, inf]",
            "40:16: calibrate work: bounds[1] = inf: a finite number is needed here",
        ),
        (
            "[1e6, 1e9]",
            '"wide"',
            '40:10: calibrate work: bounds = "wide": a list in brackets is needed here',
        ),
        (
            'unit = "instructions"',
            'scenarios = ["apart.tml"]',
            (
                '41:14: calibrate work: scenarios[0] = "apart.tml": there is no such scenario of '
                "a case; did you mean apart.toml?"
            ),
        ),
        (
            "[[case]]",
            "[run]\nreplications = 0\n\n[[case]]",
            "7:16: run.replications = 0: at least 1 is possible",
        ),
        (
            "[[ratio]]\n",
            TWICE.replace("[2, 4]", "[4, 2]", 1),
            (
                "30:14: series far: processors = [4, 2]: processors must be two or more rising "
                "numbers above 0"
            ),
        ),
        (
            "[[ratio]]\n",
            TWICE.replace("= [2, 4] }", "= [2] }"),
            (
                "32:35: series far: set.partition.one.virtual = [2]: it has 1 values for 2 "
                "sizes; write one for each size, or one value for all"
            ),
        ),
        (
            "[[ratio]]\n",
            TWICE.replace("ibm-z14", "ibm-z1"),
            (
                '31:14: series far: capability = "ibm-z1": there is no such machine; did you '
                "mean ibm-z10?"
            ),
        ),
        (
            "[[ratio]]\n",
            TWICE.replace('"far"', '"price"'),
            '35:8: ratio price: name = "price": price stands there twice; name each once',
        ),
        (
            "[[calibrate]]",
            "[[calibrate]",
            (
                "36:12: this is not valid TOML, expected ']]' at the end of an array "
                "declaration: `[[calibrate]`; text values stand in double quotes, as in memory = "
                '"40 GiB"; tables in brackets, as in [run]'
            ),
        ),
    ],
)
def test_a_study_that_does_not_fit_together(
    old: str, new: str, told: str, root: Path, files: Callable[[str, str], Path]
) -> None:
    assert old in STUDY
    files("studies/tiny/study.toml", STUDY.replace(old, new, 1))
    with pytest.raises(StudyError) as error:
        load_study("tiny", root)
    assert str(error.value).splitlines()[0] == f"studies/tiny/study.toml:{told}"


def test_all_that_is_wrong_is_told_at_once(root: Path, files: Callable[[str, str], Path]) -> None:
    files(
        "studies/tiny/study.toml",
        STUDY.replace("apart.toml", "nowhere.toml").replace('base = "far', 'base = "near'),
    )
    with pytest.raises(StudyError) as error:
        load_study("tiny", root)
    lines = [one.where.line for one in error.value.problems if one.where is not None]
    assert lines == [8, 23, 34]


def test_a_study_without_a_case(root: Path, files: Callable[[str, str], Path]) -> None:
    files("studies/tiny/study.toml", STUDY[: STUDY.index("[[case]]")])
    with pytest.raises(StudyError) as error:
        load_study("tiny", root)
    assert str(error.value) == (
        "studies/tiny/study.toml:1:1: case is missing: write [[case]] and under it name and "
        "scenario"
    )


def test_a_row_of_no_case_is_told_with_its_line(
    root: Path, files: Callable[[str, str], Path]
) -> None:
    files("studies/tiny/published.csv", PUBLISHED.replace("full,", "ful,"))
    with pytest.raises(StudyError) as error:
        load_study("tiny", root)
    assert str(error.value) == (
        "studies/tiny/published.csv:8: row ful:response_ms_mean: study.toml has no case ful; did "
        "you mean full?"
    )


def test_a_run_that_is_fitted_to_has_no_validation_rows(
    root: Path, files: Callable[[str, str], Path]
) -> None:
    line = "far-apart,ilcs_per_s,9000,1/s,validation,text,10%,\n"
    files("studies/tiny/published.csv", PUBLISHED + line)
    with pytest.raises(
        StudyError, match=r"csv:9: row far-apart:ilcs_per_s has the role validation, but a"
    ):
        load_study("tiny", root)
    files("studies/tiny/published.csv", PUBLISHED + line.replace("validation", "informed"))
    assert load_study("tiny", root).rows("informed")[0].metric == "ilcs_per_s"


def test_a_calibration_row_nobody_fits(root: Path, files: Callable[[str, str], Path]) -> None:
    files("studies/tiny/study.toml", STUDY[: STUDY.index("[[calibrate]]")])
    with pytest.raises(
        StudyError, match=r"csv:2: row far-apart:physc has the role calibration, but no"
    ):
        load_study("tiny", root)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("partitions.onne.smt", "no element onne; did you mean one"),
        ("partitions.*.smtt", "there is no smtt"),
        ("name.x", "nothing lies below"),
    ],
)
def test_a_path_that_leads_nowhere(
    path: str, told: str, root: Path, files: Callable[[str, str], Path]
) -> None:
    parameter = "partitions.*.profile.instructions_per_unit"
    files("studies/tiny/study.toml", STUDY.replace(parameter, path))
    with pytest.raises(StudyError, match=told):
        calibrate_study(load_study("tiny", root))


def test_an_unknown_study_names_the_nearest(root: Path) -> None:
    with pytest.raises(NotFoundError, match="no study tinny; did you mean tiny"):
        load_study("tinny", root)


def test_an_interrupted_study_says_what_was_complete(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from homenode.evidence.study import evaluate
    from homenode.simulate.runner import InterruptedRun

    run_scenario = evaluate.run_scenario
    done: list[str] = []

    def stop_at_the_second(*arguments: object, **options: object) -> object:
        if done:
            raise InterruptedRun(None, 0, 3)
        done.append("first")
        return run_scenario(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(evaluate, "run_scenario", stop_at_the_second)
    with pytest.raises(InterruptedRun, match="nothing to keep; complete before: apart-"):
        run(root)


def test_results_are_frames_in_a_notebook(root: Path) -> None:
    result = run(root)
    assert result.frame().height == 7
    assert result.frame()["published_low"][1] == 10.5
    assert result.explanations[0].frame()["difference"].sum() == pytest.approx(1.94)
    told = result.runs["shared"].explain("three", base_partition="four")
    assert told.difference == 0


def test_a_count_is_the_rate_times_the_interval_of_its_case(
    root: Path, files: Callable[[str, str], Path]
) -> None:
    counted = PUBLISHED + "shared,vcsw,20000,,informed,text,x10,\n"
    files("studies/tiny/published.csv", counted)
    with pytest.raises(StudyError, match="shared:vcsw is a count of an interval, but its case has"):
        load_study("tiny", root)
    timed = STUDY.replace('name = "shared"\n', 'name = "shared"\ninterval = "10 s"\n')
    assert timed != STUDY
    files("studies/tiny/study.toml", timed)
    told = {
        c.published.metric: c.simulated
        for c in run(root).comparisons
        if c.published.case == "shared"
    }
    assert told["vcsw"].mean == pytest.approx(10 * told["vcsw_per_s"].mean)
    assert told["vcsw"].ci95 == pytest.approx(10 * told["vcsw_per_s"].ci95)
