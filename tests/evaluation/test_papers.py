"""The papers' numbers that stand beside ours: complete, and at cells read from the papers."""

from importlib import resources

import pandas as pd
import pytest

from kit.evaluation import paper_numbers, paper_table

COLUMNS = ["paper", "place", "dataset", "group", "row", "metric", "value", "unit", "note"]

# Rows × columns of each table and figure that has printed numbers, less its empty cells.
CELLS = {
    # Nine methods × (four data sets × three metrics and two ranks); Struct-EM of three.
    ("kgp", "Table 1"): 9 * 14 + 3,
    ("kgp", "Table 2"): 5 * 12,
    ("kgp", "Table 3"): 4 * 6,
    # Two of seven hyperparameters that are numbers have three values.
    ("kgp", "Table 4"): 5 + 2 * 3,
    ("kgp", "Figure 1"): 2 * 2 * 2,
    ("kgp", "Figure 5"): 2,
    ("kgp", "Figure 6"): 1,
    ("kgp", "Figure 7"): 1,
    ("kgp", "Figure 10"): 1,
    # Thirteen methods × nine; Quality of six, of which one (GNN-Ret, K = 5) is not legible.
    ("gnn-ret", "Table 1"): 13 * 9 + 5,
    # Ten accuracies a data set, and a difference for all but the three rows compared with.
    ("gnn-ret", "Table 2"): 2 * (10 + 7),
    ("gnn-ret", "Table 3"): 2 * (4 + 3),
    ("gnn-ret", "Table 4"): 2 * 2 * 6,
    ("gnn-ret", "Table 5"): 4 * 3,
    ("gnn-ret", "Table 6"): 2 * 5,
    # One, two and three layers: F1, EM, Acc, and an α a layer.
    ("gnn-ret", "Table 7"): 2 * (3 * 3 + 1 + 2 + 3),
    ("gnn-ret", "Table 8"): 2 * (4 + 2),
    ("gnn-ret", "Figure 4"): 2 * 2,
    ("gnn-ret", "Figure 5"): 2,
    ("qsgnn", "Table 1"): 3 * 3,
    ("peers", "Published"): 6 * 3,
    ("qsgnn", "Table 2"): 10 * 8,
    ("qsgnn", "Table 3"): 12 * 8,
    # GraphRAG retrieves no documents, so it has no recall.
    ("qsgnn", "Table 4"): 6 * 9 - 3,
    ("qsgnn", "Table 5"): 5 * 2,
    ("qsgnn", "Table 6"): 7 * 9,
    ("qsgnn", "Table 7"): 18 * 3,
    ("qsgnn", "Table 8"): 11 * 8,
    ("qsgnn", "Table 9"): 6 * 6 - 2,
    # Three variants answer from chunks, so they have no recall.
    ("qsgnn", "Table 10"): 12 * 9 - 3 * 3,
    ("qsgnn", "Table 11"): 5 * 9,
    ("qsgnn", "Table 12"): 6 * 9,
    ("qsgnn", "Figure 3"): 7 + 5,
    # Six data sets, one without a number of reasoning types.
    ("bgr", "Table 1"): 6 * 2 - 1,
    ("bgr", "Table 2"): 4 * 5,
    # Three single-hop methods have one set metric and QA EM alone.
    ("bgr", "Table 3"): 10 * 8 + 3 * 2,
    ("bgr", "Table 4"): 3 * 2,
    # Each of three is a mean and its spread.
    ("bgr", "Table 8"): 3 * 3 * 2,
    ("bgr", "Table 9"): 12 * 8,
    # Twelve hyperparameters that are numbers; the layers are two numbers.
    ("bgr", "Table 10"): 12 + 1,
    # 25 models × nine columns. Empty: three of each Alpaca (four rows), six of RECOMP and of
    # SuRe 7B, two of SuRe GPT, four of Sonnet with one document, three of Self-RAG 13B, two of RPG.
    ("ras", "Table 1"): 25 * 9 - 4 * 3 - 2 * 6 - 2 - 4 - 3 - 2,
    # Of five columns No Planning lacks two and No ThemeScope three.
    ("ras", "Table 2"): 9 * 5 - 2 - 3,
    # Five rows of three numbers; queries (the answerer's from three sources); the planner's labels
    # and the lengths of its sub-queries.
    ("ras", "Table 3"): 2 * 5 * 3 + (1 + 3) + (3 + 3),
    # The values of each hyperparameter that is a number, by the table's seven sections; four lists
    # of layers have 1, 1, 2 and 3 sizes.
    ("ras", "Table 5"): (5 + 7 + 5 + 3 + 3 + 3)
    + (5 + 4 + (1 + 1 + 2 + 3) + 5)
    + (5 + 5)
    + (4 + 4 + 4 + 4 + 3 + 1)
    + (4 + 3 + 4)
    + (4 + 5 + 1 + 4 + 4 + 4 + 4 + 1)
    + 3,
    ("ras", "Figure 2"): 7,
    ("ras", "Figure 3"): 4,
    ("ras", "Figure 4"): 5 + 1,
}

# What a row of the paper's method begins with. Statistics and settings have no method.
METHOD = {
    "peers": "HippoRAG 2",
    "kgp": "KGP",
    "gnn-ret": "GNN-Ret",
    "qsgnn": "QSGNN",
    "bgr": "BGR",
    "ras": "RAS",
}
WITHOUT_METHOD = {
    ("kgp", "Table 3"),  # the graphs
    ("kgp", "Table 4"),  # settings of DPR and MDR
    ("kgp", "Figure 1"),  # no passages and the gold ones
    ("kgp", "Figure 5"),  # graphs
    ("kgp", "Figure 6"),
    ("kgp", "Figure 7"),
    ("kgp", "Figure 10"),
    ("gnn-ret", "Table 5"),  # the graphs
    ("qsgnn", "Table 1"),  # the data
    ("qsgnn", "Table 7"),
    ("qsgnn", "Figure 3"),  # the axes
    ("bgr", "Table 1"),  # the data
    ("bgr", "Table 2"),
    ("bgr", "Table 4"),  # language models alone
    ("bgr", "Table 10"),  # settings
    ("ras", "Table 3"),  # the data
    ("ras", "Table 5"),  # settings
    ("ras", "Figure 2"),
    ("ras", "Figure 3"),
    ("ras", "Figure 4"),
}

RANGE = {
    "percent": (0, 100),
    "percentage points": (0, 100),
    "ratio": (0, 1),
    "rank": (1, 9),
    "edits": (0, 50),
    "seconds": (0, 1),
    "hours": (0, 24),
    "kWh": (0, 10),
    "GB": (1, 80),
    "million": (1, 200),
    "count": (0, 1_000_000),
    "number": (1e-6, 500_000),
    "unstated": (30, 50),
}


@pytest.fixture(scope="module")
def everything() -> pd.DataFrame:
    return pd.concat([paper_numbers(paper, label) for paper, label in CELLS])


@pytest.mark.parametrize(("paper", "label"), CELLS)
def test_a_table_is_complete(paper, label) -> None:
    table = paper_numbers(paper, label)
    assert list(table) == COLUMNS
    assert len(table) == CELLS[paper, label]


def test_there_is_no_other_table(everything) -> None:
    with (resources.files("kit.evaluation") / "papers.csv").open() as file:
        assert len(pd.read_csv(file)) == len(everything)


@pytest.mark.parametrize(("paper", "label"), sorted(CELLS.keys() - WITHOUT_METHOD))
def test_a_table_has_the_method_of_its_paper(paper, label) -> None:
    rows = paper_numbers(paper, label)["row"]
    assert rows.str.contains(METHOD[paper], regex=False).any()


def test_no_cell_is_there_twice(everything) -> None:
    cell = ["paper", "place", "dataset", "group", "row", "metric"]
    assert not everything.duplicated(cell).any()


def test_values_fit_their_units(everything) -> None:
    lowest = everything["unit"].map(lambda unit: RANGE[unit][0])
    highest = everything["unit"].map(lambda unit: RANGE[unit][1])
    assert everything["value"].between(lowest, highest).all()

    counted = everything[everything["unit"] == "count"]
    averages = counted["row"].str.contains("mean") | (counted["group"] == "average per question")
    whole = counted[~averages & (counted["row"] != "edges per node")]
    assert (whole["value"] % 1 == 0).all()


def test_a_name_has_one_spelling(everything) -> None:
    """Two spellings of one name differ in case, hyphens or blanks at most."""
    for column in ("dataset", "unit"):
        names = pd.Series(everything[column].unique())
        assert names.str.lower().str.replace("[- ]", "", regex=True).is_unique
    methods = everything[everything["unit"] == "percent"]
    names = pd.Series(methods["row"].unique())
    assert names.str.lower().str.replace("[- ]", "", regex=True).is_unique
    assert set(everything["dataset"]) >= {"HotpotQA", "MuSiQue", "2Wiki", "IIRC", "Quality"}


@pytest.mark.parametrize(
    ("paper", "label", "dataset", "row", "metric", "group", "value"),
    [
        ("kgp", "Table 1", "MuSiQue", "KGP-T5", "EM", "", 27.90),
        ("kgp", "Table 1", "", "MDR", "Rank w/o Comp", "", 3.08),
        ("kgp", "Table 2", "IIRC", "KGP-MDR", "EM", "", 29.32),
        ("kgp", "Table 3", "HotpotQA", "density", "number", "average per question", 0.23),
        ("kgp", "Figure 5", "HotpotQA", "TAGME", "SF-EM at the sparsest graph", "", 0.95),
        ("gnn-ret", "Table 1", "IIRC", "RGNN-Ret", "Acc", "Multi-hop Retrieval", 48.1),
        ("gnn-ret", "Table 1", "2Wiki", "SelfAsk", "EM", "Multi-hop Retrieval", 41.5),
        ("gnn-ret", "Table 3", "Quality", "GNN-Ret (SI and SK)", "Acc", "", 58.2),
        ("gnn-ret", "Table 4", "2Wiki", "GNN-Ret", "F1", "gemma-2-9b-it", 51.6),
        ("gnn-ret", "Table 6", "MuSiQue", "GNN-Ret", "Acc", "10k tokens", 26.7),
        ("gnn-ret", "Table 7", "2Wiki", "GNN-Ret", "learned alpha, layer 3", "3 layers", 0.802),
        ("qsgnn", "Table 2", "MuSiQue", "QSGNN", "Recall@5", "", 75.23),
        ("qsgnn", "Table 2", "Average", "HippoRAG2", "Recall@2", "", 67.33),
        ("qsgnn", "Table 4", "MuSiQue", "QSGNN", "EM", "4-hop", 12.50),
        ("qsgnn", "Table 8", "HotpotQA", "GNN-RAG", "F1", "GPT-4o-mini", 58.99),
        ("qsgnn", "Table 9", "2Wiki", "QSGNN", "Recall@5", "4-hop", 74.88),
        ("qsgnn", "Table 10", "MuSiQue", "QSGNN (w/o ft)", "F1", "4-hop", 17.12),
        ("qsgnn", "Table 12", "MuSiQue", "QSGNN (Neg N=50)", "Recall@5", "3-hop", 76.69),
        ("bgr", "Table 2", "ReasonGraphQA", "Test", "examples", "MC MH", 514),
        ("bgr", "Table 3", "ReasonGraphQA", "BGR", "GM", "Graph-Hop Retrieval", 56.705),
        ("bgr", "Table 8", "ReasonGraphQA", "BGR", "training time", "", 7.5),
        ("bgr", "Table 9", "ReasonGraphQA", "Forward", "GED", "MC MH", 15.889),
        ("bgr", "Table 10", "ReasonGraphQA", "gamma", "setting", "", 0.2),
        ("ras", "Table 1", "ELI5", "RAS 8B", "MAUVE", "", 54.4),
        ("ras", "Table 1", "2Wiki", "RPG 7B", "F1", "self-reflective retrieval", 33.6),
        ("ras", "Table 2", "PubHealth", "No LoRA", "Acc", "Training Phase", 54.8),
        ("ras", "Table 3", "HotpotQA-SUBQ", "edges (max)", "answerer data", "", 160),
    ],
)
def test_a_cell_as_printed(paper, label, dataset, row, metric, group, value) -> None:
    cell = paper_numbers(paper, label).query(
        "dataset == @dataset and row == @row and metric == @metric and group == @group"
    )
    assert cell["value"].tolist() == [value]


def test_sums_and_averages_that_the_papers_print() -> None:
    for label in ("Table 2", "Table 3", "Table 8"):
        means = paper_numbers("qsgnn", label).pivot(
            index=["row", "metric"], columns="dataset", values="value"
        )
        average = means[["MuSiQue", "2Wiki", "HotpotQA"]].mean(axis=1)
        assert (means["Average"] - average).abs().max() <= 0.01

    questions = {"2-hop": 488, "3-hop": 334, "4-hop": 178}
    by_hop = paper_numbers("qsgnn", "Table 4").query("row == 'QSGNN' and metric == 'Recall@5'")
    whole = sum(by_hop["group"].map(questions) * by_hop["value"]) / 1000
    assert whole == pytest.approx(75.23, abs=0.01)


def test_where_a_paper_contradicts_itself_a_note_says_so(everything) -> None:
    doubted = everything[everything["note"].str.contains("contradiction")]
    tables = set(zip(doubted["paper"], doubted["place"]))
    assert tables == {
        ("kgp", "Table 2"),
        ("gnn-ret", "Table 2"),
        ("qsgnn", "Table 8"),
        ("bgr", "Table 2"),
        ("bgr", "Table 3"),
        ("bgr", "Table 9"),
        ("ras", "Table 5"),
    }


def test_a_table_as_it_is_read() -> None:
    table = paper_table("gnn-ret", "Table 3", "Table 7", metrics=["Acc"])
    assert list(table) == ["place", "row", "2Wiki Acc", "Quality Acc", "MuSiQue Acc"]
    assert table.iloc[1, :4].tolist() == ["Table 3", "GNN-Ret (SI)", 42.7, 55.5]
    assert table["place"].tolist() == ["Table 3"] * 4 + ["Table 7"] * 3


def test_groups_as_columns() -> None:
    table = paper_table("qsgnn", "Table 4", metrics=["EM"], groups="columns")
    hops = ["MuSiQue EM (2-hop)", "MuSiQue EM (3-hop)", "MuSiQue EM (4-hop)"]
    assert list(table) == ["place", "row", *hops]
    assert table["row"].tolist()[-1] == "QSGNN"
    assert table.iloc[-1, 2:].tolist() == [44.63, 37.85, 12.50]


@pytest.mark.parametrize(("paper", "label"), CELLS)
def test_every_table_can_be_read(paper, label) -> None:
    for groups in ("rows", "columns"):
        table = paper_table(paper, label, groups=groups)
        assert table.drop(columns=["place", "row"]).notna().sum().sum() == CELLS[paper, label]
