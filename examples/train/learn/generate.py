"""Generation for many requests at once: each is prefilled when a place is free, and all that run get their next token together."""
import dataclasses
import random
import threading

import torch

MOST_NEW = 64  # tokens of an answer


@dataclasses.dataclass(frozen=True)
class Sampling:
    """How tokens are drawn. temperature 0 takes the most likely one."""
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0  # 0: all
    min_p: float = 0.0
    max_tokens: int = MOST_NEW
    seed: int | None = None


class Request:
    """A prompt and, when done is set, its answer: ids with the stop token, their log-probabilities at temperature 1, and the reason."""

    def __init__(self, prompt, sampling, score_prompt=False):
        self.prompt, self.sampling, self.score_prompt = prompt, sampling, score_prompt
        self.random = random.Random(sampling.seed)
        self.ids, self.logprobs, self.finish_reason = [], [], None
        self.prompt_logprobs = None  # [tokens - 1, vocabulary] if asked for: of each token after the first
        self.failure = None
        self.done = threading.Event()

    def add(self, token, logprobs, stop):
        """Adds a token and the distribution that it is from. Returns whether the answer goes on."""
        self.ids.append(token)
        self.logprobs.append(logprobs)
        if token == stop:
            self.finish_reason = "stop"
        elif len(self.ids) >= self.sampling.max_tokens:
            self.finish_reason = "length"
        return self.finish_reason is None


class Cache:
    """Keys and values of up to `rows` conversations of up to `context` tokens."""

    def __init__(self, model, rows, context):
        shape = model.shape
        self.model, self.context = model, context
        self.keys = torch.zeros(shape.layers, rows, shape.heads, context, shape.width // shape.heads)
        self.values = torch.zeros_like(self.keys)
        self.last = torch.zeros(shape.layers, rows, 3 * shape.width)  # each conversation's last token, as Layer.projected has it
        self.lengths = torch.zeros(rows, dtype=torch.long)

    @torch.inference_mode()
    def feed(self, rows, lists):
        """Appends the tokens lists[i] to conversation rows[i]. Returns the last hidden states [conversations, tokens, width], padded."""
        model, rows = self.model, torch.tensor(rows)
        counts = torch.tensor([len(ids) for ids in lists])
        longest = int(counts.max())
        ids = torch.tensor([ids + [0] * (longest - len(ids)) for ids in lists])
        # What pads a list is computed at positions that nothing sees before a later token takes them.
        positions = (self.lengths[rows][:, None] + torch.arange(longest)).clamp(max=self.context - 1)
        seen = int(positions.max()) + 1
        mask = torch.arange(seen) <= positions[:, :, None]
        first = (self.lengths[rows] == 0)[:, None]
        each, end = torch.arange(len(lists)), counts - 1
        x = model.embedding(ids)
        for i, layer in enumerate(model.layers):
            own = layer.projected(x)
            before = torch.where(first, own[:, 0], self.last[i, rows])
            self.last[i, rows] = own[each, end]
            q, k, v = layer.split(own, torch.cat([before[:, None], own[:, :-1]], 1), positions)
            self.keys[i][rows[:, None], :, positions] = k.transpose(1, 2)
            self.values[i][rows[:, None], :, positions] = v.transpose(1, 2)
            x = layer.added(x, q, self.keys[i, rows, :, :seen], self.values[i, rows, :, :seen], mask)
        self.lengths[rows] += counts
        return model.norm(x)

    def clear(self, row):
        self.lengths[row] = 0


def draw(logits, samplings, numbers):
    """The token of each row of logits [rows, vocabulary] that a number in [0, 1) selects. As in vLLM, top_p is of what top_k and min_p leave."""
    temperature, top_p, min_p, top_k, number = (torch.tensor(column)[:, None] for column in zip(
        *((s.temperature, s.top_p, s.min_p, s.top_k or logits.shape[1], n) for s, n in zip(samplings, numbers))))
    greedy = temperature[:, 0] == 0
    p, order = (logits / temperature.where(temperature > 0, 1.0)).softmax(-1).sort(descending=True, stable=True)
    p *= (p >= min_p * p[:, :1]) & (torch.arange(p.shape[1]) < top_k)
    p /= p.sum(-1, keepdim=True)
    kept = (p > 0) & (p.cumsum(-1) - p < top_p)
    kept[:, 0] = True
    kept[greedy, 1:] = False
    total = (p * kept).cumsum(-1)
    at = torch.searchsorted(total, number * total[:, -1:], right=True)
    return order.gather(1, at.minimum(kept.sum(-1, keepdim=True) - 1))[:, 0].tolist()


class Engine:
    """Serves the requests of one model in one thread."""

    def __init__(self, model, stop, never, rows=64, context=1024):
        """stop ends an answer. never are the tokens that aren't drawn: those which only a template writes."""
        self.model, self.stop, self.never, self.context = model.eval(), stop, torch.tensor(never), context
        self.cache = Cache(model, rows, context)
        self.free = list(range(rows))
        self.running = {}  # row → request
        self.waiting = []
        self.changed = threading.Condition()
        threading.Thread(target=self.run, daemon=True).start()

    def answer(self, request):
        """Waits for a request's answer. The prompt must be shorter than the context."""
        with self.changed:
            self.waiting.append(request)
            self.changed.notify()
        request.done.wait()
        if request.failure is not None:
            raise RuntimeError("the model failed") from request.failure

    def run(self):
        while True:
            with self.changed:
                while not self.waiting and not self.running:
                    self.changed.wait()
                new, self.waiting = self.waiting[:len(self.free)], self.waiting[len(self.free):]
            try:
                self.step(new)
            except Exception as failure:  # whoever waits must be told
                for request in new + list(self.running.values()):
                    request.failure = failure
                    request.done.set()
                for row in list(self.running):
                    self.release(row)

    @torch.inference_mode()
    def step(self, new):
        """Prefills new requests, then draws a token for all that run and feeds it."""
        rows = [self.free.pop() for _ in new]
        self.running.update(zip(rows, new))
        if new:
            hidden = self.cache.feed(rows, [request.prompt for request in new])
            for request, states in zip(new, hidden):
                if request.score_prompt:
                    request.prompt_logprobs = self.model.logits(states[:len(request.prompt) - 1]).log_softmax(-1)
            self.extend(rows, hidden[torch.arange(len(new)), torch.tensor([len(request.prompt) - 1 for request in new])])
        rows = [row for row in self.running if row not in rows]
        if rows:
            hidden = self.cache.feed(rows, [[self.running[row].ids[-1]] for row in rows])
            self.extend(rows, hidden[:, 0])

    def extend(self, rows, hidden):
        """Draws the next token of each row."""
        logits = self.model.logits(hidden)
        logprobs = logits.log_softmax(-1)
        logits[:, self.never] = -torch.inf
        requests = [self.running[row] for row in rows]
        tokens = draw(logits, [request.sampling for request in requests], [request.random.random() for request in requests])
        for i, request in enumerate(requests):
            if not request.add(tokens[i], logprobs[i], self.stop):
                self.release(rows[i])
                request.done.set()

    def release(self, row):
        del self.running[row]
        self.cache.clear(row)
        self.free.append(row)
