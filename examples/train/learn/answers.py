"""Requests and answers of the server, in vLLM's form."""
import dataclasses
import time
import uuid

from generate import MOST_NEW, Request, Sampling

# Settings that are accepted with these values only, which change nothing.
NEUTRAL = {"n": [1], "stream": [False], "stop": [[], ""], "tools": [[]], "repetition_penalty": [1], "presence_penalty": [0], "frequency_penalty": [0],
           "length_penalty": [1], "ignore_eos": [False], "add_special_tokens": [False], "echo": [False], "use_beam_search": [False], "logit_bias": [{}]}

READ = {"model", "messages", "prompt", "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed", "logprobs", "top_logprobs",
        "return_token_ids", "prompt_logprobs", "chat_template_kwargs", "user"}


class Refused(Exception):
    """A request that can't be answered as it is."""

    def __init__(self, message, status=400):
        super().__init__(message)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Options:
    """What an answer must have."""
    model: str
    is_chat: bool
    logprobs: bool
    top_logprobs: int
    prompt_logprobs: int | None
    token_ids: bool


def asked(body, chat, context, is_chat):
    """The request to an engine that a body makes, and what its answer must have."""
    if not isinstance(body, dict):
        raise Refused("the request isn't an object")
    for name, value in body.items():
        if name not in READ and (name not in NEUTRAL or value is not None and value not in NEUTRAL[name]):
            raise Refused(f"{name} can't be respected: leave it out" + (f", or give {NEUTRAL[name][0]}" if name in NEUTRAL else ""))
    prompt = chat.prompt(messages_of(body), **body.get("chat_template_kwargs") or {}) if is_chat else prompt_of(body, chat)
    if len(prompt) >= context:
        raise Refused(f"This model's maximum context length is {context} tokens. However, your request has {len(prompt)} input tokens.")
    prompt_logprobs = number(body, "prompt_logprobs", None, 0, 100, int)
    wanted = number(body, "logprobs", 0, 0, 1, int) if is_chat else 0
    if not is_chat and body.get("logprobs") is not None:
        raise Refused("logprobs can't be respected for completions: ask for prompt_logprobs")
    options = Options(model=body.get("model"), is_chat=is_chat, logprobs=bool(wanted), top_logprobs=number(body, "top_logprobs", 0, 0, 20, int),
                      prompt_logprobs=prompt_logprobs, token_ids=bool(body.get("return_token_ids")))
    return Request(prompt, sampling_of(body, context - len(prompt)), score_prompt=prompt_logprobs is not None), options


def messages_of(body):
    """The messages, with text instead of lists of text parts."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) and isinstance(m.get("content") or "", str) for m in messages):
        raise Refused("messages must be a list of messages whose content is text")
    return [{**m, "content": m.get("content") or ""} for m in messages]


def prompt_of(body, chat):
    """The prompt of a completion: text, or token ids."""
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        prompt = chat.encode(prompt)
    size = chat.tokenizer.get_vocab_size()
    if not isinstance(prompt, list) or not prompt or not all(type(id) is int and 0 <= id < size for id in prompt):
        raise Refused(f"prompt must be text or token ids below {size}, and not empty")
    return prompt


def sampling_of(body, space):
    most = number(body, "max_completion_tokens", None, 1, None, int) or number(body, "max_tokens", MOST_NEW, 1, None, int)
    return Sampling(temperature=number(body, "temperature", 1.0, 0, None), top_p=number(body, "top_p", 1.0, 0, 1), min_p=number(body, "min_p", 0.0, 0, 1),
                    top_k=max(0, number(body, "top_k", 0, -1, None, int)), max_tokens=min(most, MOST_NEW, space), seed=number(body, "seed", None, None, None, int))


def number(body, name, absent, least, most, kind=float):
    """A number of a request within its bounds."""
    value = body.get(name)
    if value is None:
        return absent
    if not isinstance(value, (int, float)) or kind(value) != value or least is not None and value < least or most is not None and value > most:
        raise Refused(f"{name} is {value!r}, which isn't {'an integer' if kind is int else 'a number'} from {least} to {most}")
    return kind(value)


def answered(request, options, chat):
    """The body of an answer."""
    ids = request.ids[:-1] if request.finish_reason == "stop" else request.ids
    choice = {"index": 0, "finish_reason": request.finish_reason, "logprobs": None}
    if options.is_chat:
        choice["message"] = {"role": "assistant", "content": chat.decode(ids)}
    else:
        choice["text"] = chat.decode(ids)
    if options.logprobs:
        choice["logprobs"] = {"content": [{**entry(chat, id, row), "top_logprobs": [entry(chat, top, row) for top in best(row, options.top_logprobs)]}
                                          for id, row in zip(request.ids, request.logprobs)]}
    body = {"id": f"{'chatcmpl' if options.is_chat else 'cmpl'}-{uuid.uuid4().hex}", "object": "chat.completion" if options.is_chat else "text_completion",
            "created": int(time.time()), "model": options.model, "choices": [choice],
            "usage": {"prompt_tokens": len(request.prompt), "completion_tokens": len(request.ids), "total_tokens": len(request.prompt) + len(request.ids)}}
    if options.token_ids:
        choice["token_ids"] = request.ids
    beside = body if options.is_chat else choice  # where vLLM has what is about the prompt
    if options.token_ids:
        beside["prompt_token_ids"] = request.prompt
    if options.prompt_logprobs is not None:
        beside["prompt_logprobs"] = [None] + [scored(chat, id, row, options.prompt_logprobs) for id, row in zip(request.prompt[1:], request.prompt_logprobs)]
    return body


def best(row, count):
    """The ids with the highest log-probabilities."""
    return row.topk(count).indices.tolist()


def entry(chat, id, row):
    text = chat.decode([id])
    return {"token": text, "logprob": float(row[id]), "bytes": list(text.encode())}


def scored(chat, id, row, count):
    """A token of the prompt and the most likely ones in its place."""
    return {str(i): {"logprob": float(row[i]), "rank": int((row > row[i]).sum()) + 1, "decoded_token": chat.decode([i])} for i in [id, *best(row, count)]}
