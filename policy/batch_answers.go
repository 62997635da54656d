package policy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"relabel"
)

// answerLine is a line of a batch's output or error file.
type answerLine struct {
	CustomID string `json:"custom_id"`
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	} `json:"error"`
}

// Answers reads a file of answers and understands each line as Client.Complete does an
// answer. of gives the tools and the turn that a line was asked with. Errors are those of
// each, which ends it, and those of Batches; a line that cannot be read is passed over,
// as one that never came.
func (b *Batches) Answers(ctx context.Context, file string, of func(customID string) relabel.ChatRequest, each func(relabel.BatchAnswer) error) error {
	ctx, cancel := context.WithTimeout(ctx, batchPatience)
	defer cancel()
	req, err := b.request(ctx, http.MethodGet, "/files/"+url.PathEscape(file)+"/content", nil)
	if err != nil {
		return err
	}
	resp, err := b.send(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewReaderSize(resp.Body, 1<<16)
	for {
		line, err := readLine(lines)
		if len(line) > 0 {
			var a answerLine
			if json.Unmarshal(line, &a) == nil && a.CustomID != "" {
				if err := each(b.understand(a, of(a.CustomID))); err != nil {
					return err
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return b.unclear("a file of answers breaks off", err)
		}
	}
}

// readLine reads a line of at most maxAnswer bytes; the rest of a longer one is dropped,
// which leaves no JSON.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(line) < maxAnswer {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// understand makes a completion of a line, or says why there is none.
func (b *Batches) understand(a answerLine, req relabel.ChatRequest) relabel.BatchAnswer {
	answer := relabel.BatchAnswer{CustomID: a.CustomID}
	secret, err := b.secrets.of(b.policy)
	switch {
	case err != nil:
		answer.Err = err
	case a.Response == nil || a.Response.Status == 0:
		said := "the batch has no answer"
		if a.Error != nil {
			said = serverError{message: a.Error.Message, code: optional[string](a.Error.Code)}.shown(secret)
		}
		answer.Err = b.refused(said, nil)
	case a.Response.Status != http.StatusOK:
		told := readError(a.Response.Body)
		answer.Err = b.refused("HTTP "+strconv.Itoa(a.Response.Status)+": "+told.shown(secret), nil)
		if told.overflow() {
			answer.Err = relabel.Errorf(relabel.CodeContextOverflow, "%s: the state is too long for the model: %s", b.policy.Name, told.shown(secret))
		}
	default:
		done, problem := decodeAnswer(a.Response.Body)
		if problem != "" {
			answer.Err = b.refused(problem, nil)
			return answer
		}
		answer.Completion = understood(b.policy, req, done)
	}
	return answer
}
