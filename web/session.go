package web

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"relabel"
)

// formCookie holds the secret of a browser's forms without a session.
const formCookie = "relabel_form"

// signInView is the form that takes a token.
type signInView struct {
	To      string // where to go then
	Problem string
	Known   bool // the browser is signed in
	// Ask has the browser ask again, from this page: it sends no session along with a link
	// of another site.
	Ask string
}

func (s signInView) page(status int) page {
	return page{Template: "signin", Title: "Sign in", Status: status, View: s}
}

func (v *viewer) sessionRoutes() routes {
	return routes{"GET /sign-in": v.showSignIn, "POST /sign-in": v.signIn, "POST /sign-out": v.signOut}
}

func (v *viewer) showSignIn(w http.ResponseWriter, r *http.Request) error {
	view := signInView{To: ownAddress(r.FormValue("to"))}
	caller := callerOf(r)
	if caller.Access != relabel.NoAccess && view.To != "/" {
		http.Redirect(w, r, view.To, http.StatusSeeOther)
		return nil
	}
	view.Known = caller.Session != "" && caller.Access != relabel.NoAccess
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		view.Ask = "/sign-in?to=" + url.QueryEscape(view.To)
	}
	return v.render(w, r, view.page(http.StatusOK))
}

// signIn begins a session. The token is read from the body only, so it appears in no log.
func (v *viewer) signIn(w http.ResponseWriter, r *http.Request) error {
	view := signInView{To: ownAddress(r.PostFormValue("to"))}
	token := relabel.HashSecret(strings.TrimSpace(r.PostFormValue("token")))
	if wait := v.signInWait(r, token); wait > 0 {
		view.Problem = fmt.Sprintf("Too many unknown tokens from this address. Try again in %d seconds.", wait)
		w.Header().Set("Retry-After", strconv.Itoa(wait))
		return v.render(w, r, view.page(http.StatusTooManyRequests))
	}
	secret, err := v.Store.BeginSession(r.Context(), token)
	if relabel.CodeOf(err) == relabel.CodeUnauthorized {
		if v.Attempts != nil {
			v.Attempts.Failed(r.RemoteAddr, token)
		}
		view.Problem = safeMessage(err)
		return v.render(w, r, view.page(http.StatusUnauthorized))
	}
	if err != nil {
		return err
	}
	if v.Attempts != nil {
		v.Attempts.Succeeded(r.RemoteAddr, token)
	}
	setCookie(w, r, relabel.SessionCookie, secret, 30*24*60*60)
	http.Redirect(w, r, view.To, http.StatusSeeOther)
	return nil
}

// signInWait is the number of seconds to wait before the caller's token is checked.
func (v *viewer) signInWait(r *http.Request, token string) int {
	if v.Attempts == nil {
		return 0
	}
	return int((v.Attempts.Wait(r.RemoteAddr, token) + time.Second - 1) / time.Second)
}

func (v *viewer) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := checkForm(r); err != nil {
		return err
	}
	if err := v.Store.EndSession(r.Context(), relabel.HashSecret(callerOf(r).Session)); err != nil {
		return err
	}
	setCookie(w, r, relabel.SessionCookie, "", -1)
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
	return nil
}

// callerOf is the caller of a page. Without authentication, every caller has full access.
func callerOf(r *http.Request) relabel.Caller {
	c, known := relabel.CallerOf(r.Context())
	if !known {
		c.Access = relabel.FullAccess
	}
	return c
}

// mayChange reports whether the caller may use operations.
func mayChange(r *http.Request) bool { return callerOf(r).Access == relabel.FullAccess }

// ownAddress returns an address of this server unchanged, and any other as the home page.
func ownAddress(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// setCookie sets a cookie that scripts cannot read and other sites cannot use.
func setCookie(w http.ResponseWriter, r *http.Request, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"})
}

// formToken proves that a form is ours. It is derived from a secret cookie of this browser, which
// no other site can read or send.
func formToken(w http.ResponseWriter, r *http.Request) string {
	if token := expectedToken(r); token != "" {
		return token
	}
	secret := rand.Text()
	setCookie(w, r, formCookie, secret, 0)
	r.AddCookie(&http.Cookie{Name: formCookie, Value: secret}) // for the next form of this page
	return expectedToken(r)
}

// expectedToken is the token of this browser's forms, "" without a secret.
func expectedToken(r *http.Request) string {
	if session := callerOf(r).Session; session != "" {
		return relabel.HashSecret("form of " + session)
	}
	if c, err := r.Cookie(formCookie); err == nil && c.Value != "" {
		return relabel.HashSecret("form of " + c.Value)
	}
	return ""
}

// checkForm rejects forms without the expected token.
func checkForm(r *http.Request) error {
	want, got := expectedToken(r), r.PostFormValue("form")
	if want == "" || subtle.ConstantTimeCompare([]byte(want), []byte(got)) != 1 {
		return relabel.Errorf(relabel.CodeForbidden, "This form has expired. Reload the page and try again.")
	}
	return nil
}
