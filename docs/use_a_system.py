"""Translate, score and look into a trained system: `python docs/use_a_system.py`, once it is trained.

Its cells (`# %%`) run one by one in an editor that knows them, or in a notebook.
"""

# %% The system of a folder of results; name the configfile too, if it was trained with one.
from pipeline_py import load

system = load("results/nmt/SDAtt/seed1")
print(system)

# %% Sentences as the training text has them: words and marks stand apart in the embedded corpus.
sentences = ["The small girl can see the bird .", "Perhaps a man had picked up the new hat ."]
translations = system.translate(sentences)
for sentence, translation in zip(sentences, translations, strict=True):
    print(f"{sentence} -> {translation}")

# %% What else the search found.
for text, score in system.n_best(sentences[:1], size=5)[0]:
    print(f"{score:8.3f}  {text}")

# %% Which of two translations does the system find likelier? The second has a wrong case.
right, wrong = system.score(
    [
        ("The girl can see the bird .", "Das Mädchen kann den Vogel sehen ."),
        ("The girl can see the bird .", "Das Mädchen kann der Vogel sehen ."),
    ]
)
print(f"log p: {right:.3f} with `den`, {wrong:.3f} with `der`")

# %% Where it looks when it says a given translation, as numbers and as a figure.
attention = system.attention("The girl can see the bird .", "Das Mädchen kann den Vogel sehen .")
for piece, weights in zip(attention.translation, attention.weights, strict=True):
    print(f"{piece:>12} looks at {attention.words[weights[: len(attention.words)].argmax()]}")
figure = attention.plot("SDAtt")
attention.save("attention.svg", "SDAtt")
