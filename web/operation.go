package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// operation is a change that a page offers. Its page shows its effect, its estimated cost, and
// the REST call that it makes.
type operation struct {
	Title string   // a sentence: what is done
	Verb  string   // on the button
	Grave bool     // it cannot be undone
	Notes []string // consequences
	Costs []cost
	// Fields are its options. Notes, costs and call are computed again after each choice.
	Fields []operationField
	Call   call
	Back   string // the page to return to
	// Done returns the page to go to afterwards, from the call's answer; nil: Back.
	Done func(answer []byte) string
}

type cost struct{ What, Amount, From string }

// call is a request to the REST interface.
type call struct {
	Method, Path string
	Body         any // JSON; nil: none
}

// cancelVerb is on the button of operations that cancel work.
const cancelVerb = "Cancel permanently"

// post is an operation without options that posts to an action of the resource at path.
func post(path, action, title, verb string, notes ...string) operation {
	return operation{Title: title, Verb: verb, Grave: verb == cancelVerb, Notes: notes, Call: call{http.MethodPost, "/v1" + path + action, nil}, Back: path}
}

// remove is an operation that deletes the resource at path.
func remove(path, title, verb string, notes ...string) operation {
	return operation{Title: title, Verb: verb, Grave: true, Notes: notes, Call: call{http.MethodDelete, "/v1" + path, nil}, Back: path}
}

// operationView is the view of an operation's template.
type operationView struct {
	operation
	Address string // of the operation's page
	Form    string // token of the form
	Curl    string
	Once    string // idempotency key: a form that is sent twice does its operation once
	Problem string // why it was not done
}

// operationOf computes an operation from the chosen values. Errors are refusals, or CodeInvalid
// on a field.
type operationOf = func(r *http.Request, chosen url.Values) (operation, error)

// addOperation adds an operation to routes: GET shows it, POST does it.
func (v *viewer) addOperation(to routes, path string, of operationOf) {
	to["GET "+path] = func(w http.ResponseWriter, r *http.Request) error {
		return v.showOperation(w, r, of, r.URL.Query(), nil, 0)
	}
	to["POST "+path] = func(w http.ResponseWriter, r *http.Request) error { return v.doOperation(w, r, of) }
}

func (v *viewer) showOperation(w http.ResponseWriter, r *http.Request, of operationOf, chosen url.Values, refused *refusal, status int) error {
	if !mayChange(r) {
		return relabel.Errorf(relabel.CodeForbidden, "Your token is read-only.")
	}
	o, problems, err := compute(r, of, chosen)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		status = http.StatusBadRequest
	}
	if refused != nil {
		problems = append(problems, *refused)
	}
	view := operationView{operation: o, Address: r.URL.EscapedPath(), Form: formToken(w, r), Once: rand.Text(), Curl: o.Call.curl(r)}
	view.Problem = view.explain(chosen, problems)
	return v.render(w, r, page{Template: "operation", Title: safetext.Plain(o.Title), Status: status, Crumbs: []crumb{{"Home", "/"}, {"Back", o.Back}}, View: view})
}

// compute computes an operation. Refused fields are taken to be empty; the other fields keep
// their values.
func compute(r *http.Request, of operationOf, chosen url.Values) (o operation, refused refusals, err error) {
	for {
		o, err = of(r, chosen)
		wrong, is := errors.AsType[refusals](err)
		if one, invalid := errors.AsType[*relabel.Error](err); invalid && one.Code == relabel.CodeInvalid {
			field, _, _ := strings.Cut(one.Field, "[") // an item of a list
			wrong, is = refusals{{field, one.Message}}, true
		}
		if !is || !chosen.Has(wrong[0].Field) {
			return o, refused, err
		}
		refused, chosen = append(refused, wrong...), maps.Clone(chosen)
		for _, one := range wrong {
			chosen.Del(one.Field)
		}
	}
}

// mostEchoed is the longest refused value, in bytes, that a form has again.
const mostEchoed = 16 << 10

// explain adds refusals and refused values to their fields, but long values. It returns refusals without a field.
func (o *operation) explain(chosen url.Values, refused refusals) string {
	var others []string
	for _, one := range refused {
		i := slices.IndexFunc(o.Fields, func(f operationField) bool { return f.Name == one.Field })
		if i < 0 {
			others = append(others, strings.TrimPrefix(one.Field+": "+one.Message, ": "))
			continue
		}
		field := &o.Fields[i]
		field.Problem, field.Value, field.Values = one.Message, chosen.Get(one.Field), chosen[one.Field]
		if n := len(field.Value); n > mostEchoed {
			field.Value = ""
			field.Problem += fmt.Sprintf(" (its %d kB are not shown again)", n/1000)
		}
	}
	return strings.Join(others, "; ")
}

func (v *viewer) doOperation(w http.ResponseWriter, r *http.Request, of operationOf) error {
	if err := checkForm(r); err != nil {
		return err
	}
	o, refused, err := compute(r, of, r.PostForm)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return v.showOperation(w, r, of, r.PostForm, nil, 0)
	}
	status, answer, err := v.ask(r, o.Call, r.PostForm.Get("once"))
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return v.showOperation(w, r, of, r.PostForm, refusalOf(status, answer), status)
	}
	to := o.Back
	if o.Done != nil {
		to = o.Done(answer)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// refusalOf reads why the REST interface refused a call.
func refusalOf(status int, answer []byte) *refusal {
	var problem api.Problem
	if json.Unmarshal(answer, &problem) != nil || problem.Detail == "" {
		return &refusal{Message: http.StatusText(status)}
	}
	if len(problem.Errors) != 1 {
		return &refusal{Message: problem.Detail}
	}
	field, _, _ := strings.Cut(strings.TrimPrefix(problem.Errors[0].Location, "body."), "[")
	return &refusal{field, problem.Errors[0].Message}
}

// madeAt returns the page of the resource that a call created, by its id below path.
func madeAt(path string) func(answer []byte) string {
	return func(answer []byte) string {
		var made struct{ ID relabel.ID }
		if json.Unmarshal(answer, &made) != nil {
			return "/"
		}
		return path + made.ID.String()
	}
}

// ask calls the REST interface on behalf of the caller of a page. Calls with the same key have an
// effect once.
func (v *viewer) ask(r *http.Request, c call, key string) (status int, answer []byte, err error) {
	var body []byte
	if c.Body != nil {
		if body, err = c.json(); err != nil {
			return 0, nil, err
		}
	}
	// A fresh context: the page's holds the state of its router.
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

// answerBuffer is an http.ResponseWriter that stores the answer.
type answerBuffer struct {
	bytes.Buffer
	header http.Header
	status int
}

// Header returns the headers of the answer.
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

// hostOf is the scheme and host that the request was sent to.
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
			return "" // the call fails too, with this error
		}
		words = append(words, "-H 'Content-Type: application/json'", "-d "+quoted(string(body)))
	}
	return strings.Join(words, " ")
}

// quoted quotes s for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// operationLink is a link to the page of an operation.
type operationLink struct{ Text, Link string }
