package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
)

// listedTokens is how many of the most probable next tokens are asked for: the most that vLLM returns without its
// flag --max-logprobs; servers behind chat completions return 20 or fewer too.
const listedTokens = 20

var errNoNext = errors.New("its answer has no log-probabilities of the next token")

// encodeVLLMNext asks for the next token of each text. Log-probabilities of prompts would say more, but with
// adapters they end vLLM's engine on a CPU and lack lm_head on a GPU (its issues 29955 and 51594).
func encodeVLLMNext(p relabel.Policy, prompts []string) []byte {
	dst := chat.AppendString([]byte(`{"model":`), p.Model)
	dst = appendTexts(append(dst, `,"prompt":`...), prompts)
	dst = append(dst, `,"max_tokens":1,"temperature":0,"return_tokens_as_token_ids":true,"logprobs":`...)
	return append(appendInt(dst, listedTokens), '}')
}

func decodeVLLMNext(body []byte, n int) ([][]listedToken, error) {
	var w struct {
		Choices []struct {
			Index    int `json:"index"`
			Logprobs *struct {
				Top []map[string]*float64 `json:"top_logprobs"`
			} `json:"logprobs"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &w); err != nil || len(w.Choices) != n {
		return nil, errNoNext
	}
	lists := make([][]listedToken, n)
	for _, c := range w.Choices {
		if c.Index < 0 || c.Index >= n || c.Logprobs == nil || len(c.Logprobs.Top) == 0 {
			return nil, errNoNext
		}
		for name, p := range c.Logprobs.Top[0] {
			lists[c.Index] = addListed(lists[c.Index], name, p)
		}
	}
	return checked(lists)
}

// sglangAdapter is the adapter of a model SERVED:ADAPTER, which SGLang's native interface needs apart; "" if the
// model has none.
func sglangAdapter(model string) string {
	i := strings.LastIndex(model, ":")
	if i < 0 || strings.HasPrefix(model[i+1:], "//") {
		return ""
	}
	return model[i+1:]
}

func encodeSGLangNext(p relabel.Policy, prompts []string) []byte {
	dst := appendTexts([]byte(`{"text":`), prompts)
	dst = append(dst, `,"sampling_params":{"max_new_tokens":1,"temperature":0},"return_logprob":true,"top_logprobs_num":`...)
	dst = appendInt(dst, listedTokens)
	if adapter := sglangAdapter(p.Model); adapter != "" {
		dst = chat.AppendString(append(dst, `,"lora_path":`...), adapter)
	}
	return append(dst, '}')
}

func decodeSGLangNext(body []byte, n int) ([][]listedToken, error) {
	var w []struct {
		Meta struct {
			Top [][][]json.RawMessage `json:"output_top_logprobs"` // by token: [log-probability, id, text]
		} `json:"meta_info"`
	}
	if err := json.Unmarshal(body, &w); err != nil || len(w) != n {
		return nil, errNoNext
	}
	lists := make([][]listedToken, n)
	for i, answer := range w {
		if len(answer.Meta.Top) == 0 {
			return nil, errNoNext
		}
		for _, t := range answer.Meta.Top[0] {
			if len(t) < 2 {
				return nil, errNoNext
			}
			p := optional[*float64](t[0])
			lists[i] = addListed(lists[i], "token_id:"+strconv.Itoa(optional[int](t[1])), p)
		}
	}
	return checked(lists)
}

// encodeChatNext asks for the first token of an answer to the text.
func encodeChatNext(p relabel.Policy, prompts []string) []byte {
	req := plainRequest(strings.Join(prompts, "\n"), 1)
	req.Sampling.Temperature, req.Sampling.TopP = 0, 1
	body := appendRequest(nil, bare(p), req)
	body = append(body[:len(body)-1], `,"logprobs":true,"top_logprobs":`...)
	return append(appendInt(body, listedTokens), '}')
}

func decodeChatNext(body []byte, n int) ([][]listedToken, error) {
	var w struct {
		Choices []struct {
			Logprobs *struct {
				Content []struct {
					Top []struct {
						ID      *int     `json:"id"` // llama-server
						Token   string   `json:"token"`
						Logprob *float64 `json:"logprob"`
					} `json:"top_logprobs"`
				} `json:"content"`
			} `json:"logprobs"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &w); err != nil || n != 1 || len(w.Choices) != 1 || w.Choices[0].Logprobs == nil || len(w.Choices[0].Logprobs.Content) == 0 {
		return nil, errNoNext
	}
	var list []listedToken
	for _, t := range w.Choices[0].Logprobs.Content[0].Top {
		name := t.Token
		if t.ID != nil {
			name = fmt.Sprintf("token_id:%d", *t.ID)
		}
		list = addListed(list, name, t.Logprob)
	}
	return checked([][]listedToken{list})
}

// leastListed is the least log-probability that counts: less likely tokens are noise.
const leastListed = -30

// addListed adds a token; a log-probability that is null or infinite counts as leastListed.
func addListed(list []listedToken, name string, p *float64) []listedToken {
	value := float64(leastListed)
	if p != nil && *p >= leastListed {
		value = min(*p, 0)
	}
	return append(list, listedToken{name, float32(value)})
}

// Bounds of what a server may list: more than was asked for would be stored and compared.
const (
	mostListed = 5 * listedTokens
	mostName   = 1000 // bytes of a token
)

// checked returns lists that all have tokens, or an error.
func checked(lists [][]listedToken) ([][]listedToken, error) {
	for _, list := range lists {
		if len(list) == 0 {
			return nil, errNoNext
		}
		if len(list) > mostListed {
			return nil, fmt.Errorf("its answer has %d tokens where %d were asked for", len(list), listedTokens)
		}
		if slices.ContainsFunc(list, func(t listedToken) bool { return len(t.name) > mostName }) {
			return nil, fmt.Errorf("its answer has a token of more than %d bytes", mostName)
		}
	}
	return lists, nil
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = chat.AppendString(dst, text)
	}
	return append(dst, ']')
}

// besideV1 is the address of a server's native interface, which is beside the one of OpenAI's form.
func besideV1(base string) string { return strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1") }
