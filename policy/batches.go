package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"relabel"
	"relabel/chat"
)

// Limits of a batch endpoint's answers, and constants of its interface.
const (
	maxBatchAnswer = 4 << 20          // bytes of an answer that is not a file
	batchPatience  = 30 * time.Minute // for the transfer of a file
	batchKey       = "relabel_batch"  // in the metadata of our batches
	batchWindow    = "24h"
	batchPage      = 100 // batches in one answer of the list
	mostPages      = 20  // of the list that Find reads, newest first
)

// Batches is a policy's batch endpoint, in OpenAI's form: files, and batches of them.
// Its methods do not retry. Errors are CodeEndpoint for a clear refusal, CodeUnavailable without a clear
// answer, so that the endpoint may have executed the request, and CodeSecretMissing.
type Batches struct {
	policy  relabel.Policy
	base    string
	http    *http.Client
	secrets Secrets
}

// OpenBatches checks p and makes a client of its batch endpoint. It sends nothing. Errors are CodeInvalid
// with the wrong field, or CodeSecretMissing.
func OpenBatches(p relabel.Policy, o Options) (*Batches, error) {
	if _, err := o.check(p); err != nil {
		return nil, err
	}
	return &Batches{policy: p, base: strings.TrimRight(p.BaseURL, "/"), http: withoutRedirects(o, 2), secrets: o.Secrets}, nil
}

// Line is a request as a line of a batch's file, with its newline.
func (b *Batches) Line(customID string, req relabel.ChatRequest) []byte {
	line := chat.AppendString([]byte(`{"custom_id":`), customID)
	line = append(line, `,"method":"POST","url":"/v1/chat/completions","body":`...)
	line = appendRequest(line, b.policy, req)
	return append(line, '}', '\n')
}

// Upload sends the endpoint a file of lines, size bytes long, and returns its id.
func (b *Batches) Upload(ctx context.Context, name string, file io.Reader, size int64) (id string, err error) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	if err := form.WriteField("purpose", "batch"); err != nil {
		return "", err
	}
	if _, err := form.CreateFormFile("file", name); err != nil {
		return "", err
	}
	tail := "\r\n--" + form.Boundary() + "--\r\n"
	length := int64(head.Len()) + size + int64(len(tail))
	upload := func(req *http.Request) {
		req.ContentLength = length
		req.Header.Set("Content-Type", form.FormDataContentType())
	}
	var made struct {
		ID string `json:"id"`
	}
	body := io.MultiReader(&head, file, strings.NewReader(tail))
	switch err := b.ask(ctx, http.MethodPost, "/files", body, &made, upload); {
	case err != nil:
		return "", err
	case made.ID == "":
		return "", b.unclear("it names no file", nil)
	case !usableID(made.ID):
		return "", b.refused("the id of a file is not 1 to 200 printable characters", nil)
	}
	return made.ID, nil
}

// remoteBatch is a batch in an answer.
type remoteBatch struct {
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Output   string          `json:"output_file_id"`
	Failed   string          `json:"error_file_id"`
	Metadata json.RawMessage `json:"metadata"`
	Errors   json.RawMessage `json:"errors"`
}

func (r remoteBatch) batch() relabel.RemoteBatch {
	problems := optional[struct {
		Data []struct {
			Message string `json:"message"`
		} `json:"data"`
	}](r.Errors).Data
	batch := relabel.RemoteBatch{ID: r.ID, Status: clip(r.Status, maxName), OutputFile: r.Output, ErrorFile: r.Failed}
	if len(problems) > 0 {
		batch.Problem = clip(problems[0].Message, 300)
	}
	return batch
}

// Create makes a batch from a file and marks it with key.
func (b *Batches) Create(ctx context.Context, file, key string) (relabel.RemoteBatch, error) {
	body, err := json.Marshal(map[string]any{"input_file_id": file, "endpoint": "/v1/chat/completions",
		"completion_window": batchWindow, "metadata": map[string]string{batchKey: key}})
	if err != nil {
		return relabel.RemoteBatch{}, err
	}
	return b.batch(ctx, http.MethodPost, "/batches", body)
}

// Find returns the batch with the mark key among the newest ones; nil without one.
func (b *Batches) Find(ctx context.Context, key string) (*relabel.RemoteBatch, error) {
	after := ""
	for range mostPages {
		var page struct {
			Data []remoteBatch `json:"data"`
			More bool          `json:"has_more"`
		}
		if err := b.ask(ctx, http.MethodGet, "/batches?limit="+strconv.Itoa(batchPage)+after, nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Data {
			if optional[map[string]string](r.Metadata)[batchKey] == key && r.usable() {
				return new(r.batch()), nil
			}
		}
		if !page.More || len(page.Data) == 0 {
			return nil, nil
		}
		after = "&after=" + url.QueryEscape(page.Data[len(page.Data)-1].ID)
	}
	return nil, nil
}

// Get returns the current state of a batch.
func (b *Batches) Get(ctx context.Context, id string) (relabel.RemoteBatch, error) {
	return b.batch(ctx, http.MethodGet, "/batches/"+url.PathEscape(id), nil)
}

// Cancel asks the endpoint to end a batch.
func (b *Batches) Cancel(ctx context.Context, id string) error {
	_, err := b.batch(ctx, http.MethodPost, "/batches/"+url.PathEscape(id)+"/cancel", []byte("{}"))
	return err
}

func (b *Batches) batch(ctx context.Context, method, path string, body []byte) (relabel.RemoteBatch, error) {
	var made remoteBatch
	switch err := b.ask(ctx, method, path, bytes.NewReader(body), &made); {
	case err != nil:
		return relabel.RemoteBatch{}, err
	case made.ID == "":
		return relabel.RemoteBatch{}, b.unclear("it names no batch", nil)
	case !made.usable():
		return relabel.RemoteBatch{}, b.refused("the id of a batch or file is not 1 to 200 printable characters", nil)
	}
	return made.batch(), nil
}

// usable reports whether the ids of a batch can be stored and requested.
func (r remoteBatch) usable() bool {
	return usableID(r.ID) && (r.Output == "" || usableID(r.Output)) && (r.Failed == "" || usableID(r.Failed))
}

// usableID reports whether an id from an endpoint has 1 to maxName printable characters.
func usableID(id string) bool {
	return id != "" && len(id) <= maxName && utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}

// ask sends a request, changed by the functions in change, and decodes the answer into out.
func (b *Batches) ask(ctx context.Context, method, path string, body io.Reader, out any, change ...func(*http.Request)) error {
	ctx, cancel := context.WithTimeout(ctx, batchPatience)
	defer cancel()
	resp, err := b.send(ctx, method, path, body, change...)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBatchAnswer))
	if err != nil {
		return b.unclear("its answer is incomplete", err)
	}
	if json.Unmarshal(answer, out) != nil {
		return b.unclear("its answer is not that of a batch endpoint", nil)
	}
	return nil
}

// send sends a request and returns its answer if it succeeded.
func (b *Batches) send(
	ctx context.Context, method, path string, body io.Reader, change ...func(*http.Request),
) (*http.Response, error) {
	secret, err := b.secrets.of(b.policy)
	if err != nil {
		return nil, err
	}
	req, err := newRequest(ctx, method, b.base+path, body, secret)
	if err != nil {
		return nil, b.refused("its address cannot be used in a request", err)
	}
	for _, f := range change {
		f(req)
	}
	resp, err := b.http.Do(req)
	if why := addressRefused(err); why != "" {
		return nil, b.refused(why, err)
	}
	if err != nil {
		return nil, b.unclear("the connection to its batch endpoint failed", errors.New(scrub(err.Error(), secret)))
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusCreated {
		return resp, nil
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorRead)) // an incomplete body is better than none
	message := "HTTP " + strconv.Itoa(resp.StatusCode) + ": " + readError(answer).shown(secret)
	switch s := resp.StatusCode; {
	case s >= 500, s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooEarly:
		return nil, b.unclear(message, nil)
	}
	return nil, b.refused(message, nil)
}

func (b *Batches) refused(message string, cause error) error {
	return relabel.Errorf(relabel.CodeEndpoint, "%s: %s", b.policy.Name, message).Because(cause)
}

func (b *Batches) unclear(message string, cause error) error {
	return relabel.Errorf(relabel.CodeUnavailable, "%s: %s", b.policy.Name, message).Because(cause)
}
