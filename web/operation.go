package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"relabel"
	"relabel/safetext"
)

// operation is something that a page does when its reader wants it: said before it is done,
// with what comes of it, what it will cost, and the REST call that does the same. That call
// is what is made.
type operation struct {
	Title string   // a sentence: what is done
	Verb  string   // on the button
	Grave bool     // it cannot be taken back
	Notes []string // what comes of it
	Costs []cost
	// Fields are what can be chosen. The operation is worked out anew with what was chosen, so that
	// notes, costs and call always say what will be done.
	Fields []operationField
	Call   call
	Back   string // the page to return to
	// Done is the page to go to when it is done, from the call's answer; nil: Back.
	Done func(answer []byte) string
}

// cost is a line of what an operation will use.
type cost struct{ What, Amount, From string }

// operationField is something to be chosen for an operation.
type operationField struct {
	Name, Label string
	Kind        string // of input: text, number, textarea; checks: any of Choices; else, with Choices, one of them
	Value, Help string
	Values      []string // of checks
	Choices     []string
	Offers      []string // what may be meant, of a text that may be another
}

// Has reports whether a choice is made.
func (f operationField) Has(choice string) bool { return slices.Contains(f.Values, choice) }

// call is a request to the REST interface.
type call struct {
	Method, Path string
	Body         any // JSON; nil: none
}

// operationView is what the template of an operation is given.
type operationView struct {
	operation
	Address string // of the operation: form and question
	Form    string // its token
	Curl    string
	Once    string // the form's own key: sent twice, it does its operation once
	Problem string // why it was not done
}

// operationOf works an operation out from what was chosen so far.
type operationOf = func(r *http.Request, chosen url.Values) (operation, error)

// addOperation adds an operation to routes: GET says what will be done, POST does it.
func (v *viewer) addOperation(to routes, path string, of operationOf) {
	to["GET "+path] = func(w http.ResponseWriter, r *http.Request) error {
		return v.showOperation(w, r, of, r.URL.Query(), "", 0)
	}
	to["POST "+path] = func(w http.ResponseWriter, r *http.Request) error { return v.doOperation(w, r, of) }
}

func (v *viewer) showOperation(w http.ResponseWriter, r *http.Request, of operationOf, chosen url.Values, problem string, status int) error {
	if !mayChange(r) {
		return relabel.Errorf(relabel.CodeForbidden, "Your token may look at everything and change nothing.")
	}
	d, refused, err := workOut(r, of, chosen)
	if err != nil {
		return err
	}
	if refused != "" {
		problem, status = refused, http.StatusBadRequest
	}
	view := operationView{operation: d, Address: r.URL.EscapedPath(), Form: formToken(w, r), Once: rand.Text(), Curl: d.Call.curl(r), Problem: problem}
	return v.render(w, r, page{Template: "operation", Title: safetext.Plain(d.Title), Status: status, Crumbs: []crumb{{"Home", "/"}, {"Back", d.Back}}, View: view})
}

// workOut works an operation out. Where a field holds what cannot be it is taken to be empty, and
// refused says why: the rest of what was chosen stays.
func workOut(r *http.Request, of operationOf, chosen url.Values) (d operation, refused string, err error) {
	for {
		d, err = of(r, chosen)
		var wrong *relabel.Error
		if !errors.As(err, &wrong) || wrong.Code != relabel.CodeInvalid || chosen.Get(wrong.Field) == "" {
			return d, refused, err
		}
		refused = or(refused, safeMessage(err))
		chosen = maps.Clone(chosen)
		chosen.Del(wrong.Field)
	}
}

func (v *viewer) doOperation(w http.ResponseWriter, r *http.Request, of operationOf) error {
	if err := checkForm(r); err != nil {
		return err
	}
	d, refused, err := workOut(r, of, r.PostForm)
	if err != nil {
		return err
	}
	if refused != "" {
		return v.showOperation(w, r, of, r.PostForm, "", 0)
	}
	status, answer, err := v.ask(r, d.Call, r.PostForm.Get("once"))
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		var problem struct{ Detail string }
		if json.Unmarshal(answer, &problem) != nil || problem.Detail == "" {
			problem.Detail = http.StatusText(status)
		}
		return v.showOperation(w, r, of, r.PostForm, problem.Detail, status)
	}
	to := d.Back
	if d.Done != nil {
		to = d.Done(answer)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// ask makes a call of the REST interface for who asks for a page. Made twice with one key
// it is made once; without a key, as often as it is asked.
func (v *viewer) ask(r *http.Request, c call, key string) (status int, answer []byte, err error) {
	var body []byte
	if c.Body != nil {
		if body, err = c.json(); err != nil {
			return 0, nil, err
		}
	}
	// The router keeps its place in the context of the page's request: this one begins anew.
	ctx, cancel := context.WithCancel(relabel.WithCaller(context.Background(), callerOf(r)))
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	request, err := http.NewRequestWithContext(ctx, c.Method, "http://"+r.Host+c.Path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.RemoteAddr = r.RemoteAddr
	request.Header.Set("Accept", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	if c.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	to := &answerBuffer{header: http.Header{}, status: http.StatusOK}
	v.REST.ServeHTTP(to, request)
	return to.status, to.Bytes(), nil
}

// answerBuffer keeps an answer.
type answerBuffer struct {
	bytes.Buffer
	header http.Header
	status int
}

// Header returns the answer's headers.
func (b *answerBuffer) Header() http.Header { return b.header }

// WriteHeader keeps the status.
func (b *answerBuffer) WriteHeader(status int) { b.status = status }

func (c call) json() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(c.Body)
	return bytes.TrimSpace(b.Bytes()), err
}

// hostOf is how this server was asked, as the beginning of an address.
func hostOf(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// curl is the command that makes the same call from a shell.
func (c call) curl(r *http.Request) string {
	words := []string{"curl -X " + c.Method, quoted(hostOf(r) + c.Path)}
	if callerOf(r).Token {
		words = append(words, `-H "Authorization: Bearer $RELABEL_TOKEN"`)
	}
	if c.Body != nil {
		body, err := c.json()
		if err != nil {
			return "" // it cannot be asked either, which says so
		}
		words = append(words, "-H 'Content-Type: application/json'", "-d "+quoted(string(body)))
	}
	return strings.Join(words, " ")
}

// quoted is s as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// operationLink leads to an operation.
type operationLink struct{ Text, Link string }
