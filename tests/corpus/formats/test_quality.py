"""QuALITY: whole articles, questions of multiple choice, no labels of passages."""

from kit.corpus import check, export, load


def test_an_article_is_one_document_whose_passages_carry_the_support(write, quality):
    benchmark = load(write("dev.jsonl", quality))
    [passage] = benchmark.corpus
    assert (passage.title, passage.position) == ("The Ferry", 0)
    assert passage.text == "Tam Orr kept a ferry. It was grey.\nOne night it sank in the Ode."
    assert [question.supporting for question in benchmark.test] == [((passage.id,),)] * 3
    first, second, third = benchmark.test
    assert (first.answer, first.type, first.id) == ("It sank", "hard", "51000_W1_1")
    assert first.options == ("It was sold", "It sank", "It burned", "It was painted grey")
    assert (second.answer, second.type, second.id) == ("Tam Orr", "easy", "51000_W1_question_1")
    assert third.answer == "In the Ode"


def test_long_articles_are_cut_and_any_passage_of_them_will_do(write, quality):
    sentences = [f"On day {day} the ferry was late again and the river high." for day in range(60)]
    for questions in quality:
        questions["article"] = "THE FERRY\n\n" + " ".join(sentences)
    benchmark = load(write("dev.jsonl", quality), setting="per-question")
    positions = [passage.position for passage in benchmark.corpus]
    assert positions == list(range(4)) and len(benchmark.corpus.documents) == 1
    assert benchmark.test[0].supporting == (tuple(passage.id for passage in benchmark.corpus),)
    assert len(benchmark.collection(benchmark.test[0])) == 4


def test_options_are_exported_and_read_again(write, quality, tmp_path):
    benchmark = load(write("dev.jsonl", quality))
    again = load(export(benchmark, tmp_path / "out", "kit"))
    assert again.test == benchmark.test and again.hash == benchmark.hash


def test_a_test_file_without_labels_is_a_corpus(write, quality):
    for questions in quality:
        for question in questions["questions"]:
            del question["gold_label"]
    problems, [note] = check(write("test.jsonl", quality))
    assert not problems and "record 1 and 1 more: questions without gold_label" in note


def test_labels_and_options_have_to_fit(write, quality, problem_of):
    quality[0]["questions"][1]["gold_label"] = 0
    line = problem_of(write("dev.jsonl", quality))
    assert "field questions[1].gold_label: expected the number of an option, got 0" in line
    quality[0]["questions"][1] |= {"gold_label": 1, "options": ["one"]}
    assert "options" in problem_of(write("dev.jsonl", quality))
    quality[0]["questions"][1]["options"] = ["one", "one"]
    _, notes = check(write("dev.jsonl", quality))
    assert any("an option is given twice" in note for note in notes)


def test_an_article_without_text_is_told(write, quality, problem_of):
    quality[0]["article"] = "<html><script>1</script></html>"
    assert "field article: expected text, there is none" in problem_of(write("dev.jsonl", quality))
