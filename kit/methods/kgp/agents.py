"""The agents that walk: how KGP scores the candidates of a path (KGP Eq. 1, Table 2, §8.2).

f is ``generated_evidence``, or what the encoder reads; g the vectors of the candidates; φ their
cosine.
"""

from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta
from msgspec.structs import asdict
from numpy.random import default_rng

from kit.corpus import Benchmark, Corpus
from kit.learning.shipped import Start
from kit.methods.baselines.dpr import DPR
from kit.methods.baselines.mdr import MDR, path_text
from kit.methods.kgp.walk import KGP, AgentOutput, Inputs, Outputs
from kit.methods.loops.agents import SmallAgent, replies
from kit.methods.loops.small_plan import LONGEST_PLAN, PLANNER
from kit.settings import Positive, Whole
from kit.store import content_key
from kit.text import ENCODER_SETTINGS, Encoder
from kit.text.language_models import language_model
from kit.text.prompts import evidence_prompt
from kit.text.replies import counted, plain_reply


class KGPRandom(KGP):
    """To the random agent all candidates are alike (§5.3).

    Its draws depend on ``seed``, question and path alone.
    """

    name = "kgp-random"

    class Settings(KGP.Settings, frozen=True):
        seed: Annotated[Whole, "of the draws"] = 0

    def score(self, inputs: Inputs) -> Outputs:
        outputs = []
        for query, path, candidates in inputs:
            key = content_key(str(self.settings.seed), query.text, *self.ids(path))
            generator = default_rng(int.from_bytes(key[:8]))
            outputs.append(AgentOutput(generator.random(len(candidates))))
        return outputs


class KGPTfidf(KGP):
    """The TF-IDF agent (Table 2), on the schedule of the others (kgp-i20).

    φ is the cosine of TF-IDF vectors, with the whole collection's idf (kgp-i11), to the question
    alone (§8.2).
    """

    name = "kgp-tfidf"

    def generated_evidence(self, inputs: Inputs) -> list[str]:
        """f: the text that each input's candidates are to be like; empty where none is written."""
        return [""] * len(inputs)

    def score(self, inputs: Inputs) -> Outputs:
        texts = self.generated_evidence(inputs)
        searched = [text or agent_input.query.text for agent_input, text in zip(inputs, texts)]
        vectors = self.tfidf.vectorizer.transform(searched)
        outputs = []
        for agent_input, vector, text in zip(inputs, vectors, texts):
            candidates = self.tfidf.passages[agent_input.candidates]  # (candidates, terms)
            outputs.append(AgentOutput((candidates @ vector.T).toarray().ravel(), text))
        return outputs


class KGPDense(KGP):
    """The agent is a sentence encoder as it comes, which reads the question alone.

    φ is the cosine of vectors.
    """

    name = "kgp-dense"
    #: Whether f reads the passages so far, too, as in Eq. 1. One encoding per path takes a hundred
    #: times as long.
    reads_path = False
    learned: Encoder | None = None

    def index(self, corpus: Corpus) -> None:
        self.encoder = self.learned or Encoder(**self.settings.of_encoder())
        super().index(corpus)
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])

    def score(self, inputs: Inputs) -> Outputs:
        texts = []
        for agent_input in inputs:
            rows = agent_input.path if self.reads_path else ()
            path = [self.corpus.passages[row] for row in rows]
            texts.append(path_text(agent_input.query.text, path))
        f = self.encoder.encode(texts, role="query", progress=False)  # (inputs, dimension)
        return [
            AgentOutput(self.vectors[agent_input.candidates] @ vector)
            for agent_input, vector in zip(inputs, f)
        ]


class KGPMDR(KGPDense):
    """The agent is the encoder of :class:`kit.methods.baselines.mdr.MDR`, and reads the path.

    The settings of its training are those of MDR.
    """

    name = "kgp-mdr"
    fixed_by_training = (*ENCODER_SETTINGS, "start")
    reads_path = True

    class Settings(KGP.Settings, frozen=True):
        start: Start = "worlds"
        epochs: Annotated[Whole, "times through the training pairs (0: none is learned)"] = 1
        batch: Annotated[Positive, "pairs per step"] = 24
        learning_rate: Annotated[float, Meta(gt=0, lt=1), "the highest, of AdamW"] = 1e-3
        layers: Annotated[Whole, "upper layers that learn, 0: all"] = 3
        rank: Annotated[Whole, "rank of the change of a matrix that learns, 0: any"] = 32
        seed: Annotated[Whole, "of the training"] = 0
        negatives: Annotated[
            Literal["hard", "random", "in-batch"],
            "where wrong passages come from",
        ] = "hard"
        n_train: Annotated[Whole, "training questions, 0: all"] = 0

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._become(self._mdr())

    def fit(self, benchmark: Benchmark) -> None:
        mdr = self._mdr()
        mdr.fit(benchmark)
        self._become(mdr)

    def _mdr(self) -> MDR:
        training = msgspec.convert(self.settings, DPR.Settings, from_attributes=True)
        return MDR(**asdict(training))

    def _become(self, mdr: MDR) -> None:
        self.learned = mdr.learned
        self.history = mdr.history  # as of :class:`DPR`


class KGPT5(KGPTfidf):
    """The agent is the kit's small language model ("KGP-T5" in the paper), ``data/planner``.

    It learned on other data. It reads the triples of a path's passages and plans with them. f is
    the question with the first step of the plan that these do not answer, or with the last and what
    answers it: "… selby quay on river". (The paper's T5, 700 times as large, writes whole
    sentences, and these stand alone.)
    """

    name = "kgp-t5"

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        # Variants share it.
        self.model = language_model(f"t5:{PLANNER}", longest_answer=LONGEST_PLAN)

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.agent = SmallAgent(self.model, corpus, f"t5:{PLANNER}")

    def generated_evidence(self, inputs: Inputs) -> list[str]:
        seeds = [agent_input.candidates for agent_input in inputs if not agent_input.path]
        self.agent.facts.graphs(seeds)  # reads all seeds at once

        queries = [agent_input.query for agent_input in inputs]
        paths = [agent_input.path for agent_input in inputs]
        texts = []
        for trajectory in self.agent.reason(queries, paths):
            text = ""
            if trajectory.steps:
                text = f"{trajectory.query.text} {trajectory.last.sentence}"
            texts.append(text)
        return texts


class KGPChat(KGPTfidf):
    """The agent is a language model (Table 2), asked by Listing 1 for the next evidence.

    It is a chat model, or a sequence-to-sequence model that understands such a prompt (see
    :func:`kit.text.language_models.language_model`). The answers are kept, so that a run is
    repeated without the model. Candidates are compared with what it writes alone (Eq. 1), and with
    the question where that is nothing.
    """

    name = "kgp-chat"

    class Settings(KGP.Settings, frozen=True):
        model: Annotated[str, "language model: server:MODEL or hf:NAME-OR-FOLDER"] = ""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.model = language_model(self.settings.model)

    def variant(self, **changes: Any) -> Self:
        other = super().variant(**changes)
        if other.settings.model != self.settings.model:
            other.model = language_model(other.settings.model)
        return other

    def generated_evidence(self, inputs: Inputs) -> list[str]:
        prompt_name = "evidence"
        if not self.model.takes_instructions:
            prompt_name = "prefixed_evidence"
        prompts = []
        for agent_input in inputs:
            path = [self.corpus.passages[row].full_text for row in agent_input.path]
            prompts.append(evidence_prompt(agent_input.query.text, path, prompt_name))
        return counted(list(map(plain_reply, replies(self.model, prompts))))
