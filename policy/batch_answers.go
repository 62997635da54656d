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

// Answers reads a file of answers and decodes each line like Client.Complete. of returns the tools and
// the turn of a line's request. Errors are those of each, which end it, and those of Batches. It skips
// unreadable lines.
func (b *Batches) Answers(ctx context.Context, file string, of func(customID string) relabel.ChatRequest, each func(relabel.BatchAnswer) error) error {
	ctx, cancel := context.WithTimeout(ctx, batchPatience)
	defer cancel()
	resp, err := b.send(ctx, http.MethodGet, "/files/"+url.PathEscape(file)+"/content", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewReaderSize(resp.Body, 1<<16)
	for over := false; !over; {
		var answer *relabel.BatchAnswer
		if answer, over, err = b.nextAnswer(ctx, lines, of); err != nil {
			return b.unclear("a file of answers is incomplete", err)
		}
		if answer == nil {
			continue
		}
		if err := each(*answer); err != nil {
			return err
		}
	}
	return nil
}

// nextAnswer reads and decodes a line; nil if it is invalid or longer than maxAnswer. It decodes few large
// lines at a time. over reports whether the line was the last.
func (b *Batches) nextAnswer(ctx context.Context, from *bufio.Reader, of func(customID string) relabel.ChatRequest) (answer *relabel.BatchAnswer, over bool, err error) {
	line := &lineReader{from: from}
	text, free, err := readBody(ctx, line, maxAnswer)
	defer free()
	if err == nil && len(text) > maxAnswer {
		_, err = io.Copy(io.Discard, line)
		text = nil
	}
	if err != nil {
		return nil, false, err
	}
	var a answerLine
	if json.Unmarshal(text, &a) == nil && a.CustomID != "" {
		answer = new(b.understand(a, of(a.CustomID)))
	}
	return answer, line.last, nil
}

// lineReader reads one line.
type lineReader struct {
	from *bufio.Reader
	part []byte // read but not yet returned; in from's buffer
	over bool   // part is the end of the line
	last bool   // no line follows
}

// Read returns io.EOF at the end of the line.
func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.part) == 0 {
		if l.over {
			return 0, io.EOF
		}
		part, err := l.from.ReadSlice('\n')
		l.part, l.over, l.last = part, !errors.Is(err, bufio.ErrBufferFull), errors.Is(err, io.EOF)
		if err != nil && l.over && !l.last {
			return 0, err
		}
	}
	n := copy(p, l.part)
	l.part = l.part[n:]
	return n, nil
}

// understand decodes a line into a completion or an error.
func (b *Batches) understand(a answerLine, req relabel.ChatRequest) relabel.BatchAnswer {
	answer := relabel.BatchAnswer{CustomID: a.CustomID}
	secret, err := b.secrets.of(b.policy)
	switch {
	case err != nil:
		answer.Err = err
	case a.Response == nil || a.Response.Status == 0:
		message := "the batch has no answer"
		if a.Error != nil {
			message = serverError{message: a.Error.Message, code: optional[string](a.Error.Code)}.shown(secret)
		}
		answer.Err = b.refused(message, nil)
	case a.Response.Status != http.StatusOK:
		reply := readError(a.Response.Body)
		answer.Err = b.refused("HTTP "+strconv.Itoa(a.Response.Status)+": "+reply.shown(secret), nil)
		if reply.overflow() {
			answer.Err = relabel.Errorf(relabel.CodeContextOverflow, "%s: the state is too long for the model: %s", b.policy.Name, reply.shown(secret))
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
