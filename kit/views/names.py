"""Methods by the names that people use; ids such as ``gnn-ret`` are for commands and code."""

from kit.corpus.types import Texts
from kit.methods import WRAPPERS
from kit.methods.nested import Call, read_call

NAMES = {
    "bm25": "BM25",
    "tfidf": "TF-IDF",
    "dense": "dense retrieval",
    "knn": "KNN",
    "gnn-ret": "GNN-Ret",
    "rgnn-ret": "RGNN-Ret",
    "dpr": "DPR",
    "mdr": "MDR",
    "pagerank": "PageRank",
    "hipporag2": "HippoRAG 2",
    "linear": "LinearRAG",
    "beams": "beams over facts",
    "hypergraph": "hypergraph",
    "raptor": "RAPTOR",
    "qsgnn": "QSGNN",
    "logistic": "logistic model",
    "graph-reranker": "graph reranker",
    "bgr": "BGR",
    "grr": "GRR",
    "ras": "RAS",
    "selfask": "SelfAsk",
    "self-critique": "Self-Critique",
    "ircot": "IRCoT",
    "iter-retgen": "ITER-RETGEN",
    "kgp-random": "KGP (random walk)",
    "kgp-tfidf": "KGP (TF-IDF agent)",
    "kgp-dense": "KGP (dense agent)",
    "kgp-mdr": "KGP (MDR agent)",
    "kgp-t5": "KGP (T5 agent)",
    "kgp-chat": "KGP (chat agent)",
    "golden": "golden passages",
    "none": "no passage",
    "knn-mdr": "KNN of MDR",
    "entity": "shared entities",
    "structure": "document structure",
    "entity+structure": "entities and structure",
    "forward": "forward search",
    "backward": "backward search",
    "gnn-ret on dpr": "GNN-Ret on DPR",
}
_INNER = ("gnn-ret", "rgnn-ret")  # what a loop searches with
_WITH_ARTICLE = ("logistic", "graph-reranker")
_METRICS = {
    "recall": "Recall",
    "full": "Full",
    "mrr": "reciprocal rank",
    "seconds": "time",
    "em": "exact match",
    "f1": "F1",
    "gm": "graph match",
    "gs": "graph structure",
    "ged": "graph edit distance",
    "ged_labelled": "labelled graph edit distance",
    "evidence_f1": "F1 of the evidence",
    "evidence_precision": "precision of the evidence",
    "evidence_recall": "recall of the evidence",
    "evidence_em": "exact evidence",
}


def name_of(label: str) -> str:
    """A method in words, with what follows its id: "gnn-ret, untrained" is "GNN-Ret, untrained".

    "ircot (gold), rgnn-ret" is "IRCoT (gold) over RGNN-Ret", and "fuse(bm25, dense)" is
    "BM25 + dense retrieval". What is no method's id stays as it is.
    """
    if label.partition("(")[0] in WRAPPERS:
        return _with_parts(read_call(label))
    first, *rest = label.split(", ")
    method, bracket, note = first.partition(" (")
    name = NAMES.get(method, method) + bracket + note
    for part in rest:
        name += f" over {NAMES[part]}" if part in _INNER else f", {part}"
    return name


def _with_parts(call: Call) -> str:
    """A method around others in words; the number of passages that are ranked anew is left out."""
    parts = [name_of(argument) for argument in call.arguments if not argument.isdecimal()]
    if call.name == "fuse":
        return " + ".join(parts)
    first, second = parts
    return f"{first}, reranked by {second}"


def said(label: str) -> str:
    """A method as a sentence says it: with an article where its name is a common noun."""
    article = "the " if label.partition(", ")[0] in _WITH_ARTICLE else ""
    return article + name_of(label)


def metric_name(metric: str) -> str:
    """A metric in words: "recall@5" is "Recall@5"."""
    kind, at, cut_off = metric.partition("@")
    return _METRICS.get(kind, kind) + at + cut_off


def listed(words: Texts) -> str:
    """Words as they are listed in a sentence: "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def capital(sentence: str) -> str:
    """A sentence with a capital letter in front, whatever follows it."""
    return sentence[:1].upper() + sentence[1:]


def with_minus(numbers: str) -> str:
    """Written numbers with a minus sign in the place of a hyphen."""
    return numbers.replace("-", "−")
