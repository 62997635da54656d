package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"relabel"
	"relabel/api"
)

// crossOrigin refuses changes that a foreign web page asks a browser to make.
var crossOrigin = http.NewCrossOriginProtection()

// tokenNames are the query names under which callers put tokens by mistake.
var tokenNames = []string{"token", "access_token", "api_key", "apikey", "authorization", "bearer"}

// authenticate passes a request that is well-formed, addressed to this server, not made by a
// foreign page and, if required, made by a known caller. It puts the caller in the context.
func (s *site) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, known := relabel.CallerOf(r.Context()) // a page asks for what its reader may have
		if !known {
			var err error
			if caller, err = s.check(w, r); err != nil {
				s.refuse(w, r, err)
				return
			}
			caller.Address = hostOf(r.RemoteAddr)
		}
		switch {
		case caller.Access != relabel.NoAccess, s.needed(r) == relabel.NoAccess:
			next.ServeHTTP(w, r.WithContext(relabel.WithCaller(r.Context(), caller)))
		case reads(r) && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, "/sign-in?to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		default:
			w.Header().Add("WWW-Authenticate", `Bearer realm="relabel"`)
			s.refuse(w, r, relabel.Errorf(relabel.CodeUnauthorized, "a valid token is required (Authorization: Bearer …); relabel token create creates one"))
		}
	})
}

// authorize refuses requests without the required access.
func (s *site) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.allows(r) {
			s.refuse(w, r, relabel.Errorf(relabel.CodeForbidden, "this token is read-only and may not read the audit log"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allows reports whether the access of a request's caller suffices for it.
func (s *site) allows(r *http.Request) bool {
	caller, _ := relabel.CallerOf(r.Context())
	needed := s.needed(r)
	return caller.Access == relabel.FullAccess || caller.Access == needed || needed == relabel.NoAccess
}

// check looks at a request that comes from outside.
func (s *site) check(w http.ResponseWriter, r *http.Request) (relabel.Caller, error) {
	for _, check := range []func(http.ResponseWriter, *http.Request) error{checkText, s.checkHost, checkOrigin} {
		if err := check(w, r); err != nil {
			return relabel.Caller{}, err
		}
	}
	return s.caller(r)
}

// checkText refuses addresses that no stored text can equal, and tokens in them, which
// would end in logs and histories.
func checkText(_ http.ResponseWriter, r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return relabel.Errorf(api.CodeMalformed, "the query is not well-formed")
	}
	texts := []string{r.URL.Path}
	for name, values := range query {
		texts = append(append(texts, name), values...)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return relabel.Errorf(api.CodeMalformed, "the address contains a NUL or is not UTF-8")
		}
	}
	for _, name := range tokenNames {
		if query.Has(name) {
			return relabel.Errorf(relabel.CodeUnauthorized, "send the token in the Authorization header, not in the URL").On("query." + name)
		}
	}
	return nil
}

// checkHost refuses a name that was rebound to the loopback address by a foreign
// site's DNS. With tokens the server may have any name.
func (s *site) checkHost(_ http.ResponseWriter, r *http.Request) error {
	if s.RequireToken || isLoopbackName(r.Host) {
		return nil
	}
	return relabel.Errorf(relabel.CodeForbidden, "without tokens this server answers only as localhost, 127.0.0.1 or [::1]").On("header.Host")
}

func isLoopbackName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

func checkOrigin(_ http.ResponseWriter, r *http.Request) error {
	if err := crossOrigin.Check(r); err != nil {
		return relabel.Errorf(relabel.CodeForbidden, "a page of another origin must not change anything here").On("header.Origin").Because(err)
	}
	return nil
}

// needed returns the access that a request requires.
func (s *site) needed(r *http.Request) relabel.Access {
	switch path := r.URL.Path; {
	case path == "/healthz", path == "/readyz", s.Pages != nil && (path == "/sign-in" || strings.HasPrefix(path, "/static/")):
		return relabel.NoAccess
	case path == auditPath:
		return relabel.FullAccess
	case s.Pages != nil && path == "/sign-out", reads(r):
		return relabel.ReadAccess
	}
	return relabel.FullAccess
}

// caller identifies the caller. It looks secrets up by their hash, so timing reveals nothing
// about them. A browser's session may make changes only through pages, which protect against
// forged requests.
func (s *site) caller(r *http.Request) (c relabel.Caller, err error) {
	if !s.RequireToken {
		return relabel.Caller{Access: relabel.FullAccess}, nil // it came over the loopback address
	}
	defer func() {
		if err != nil && s.needed(r) == relabel.NoAccess {
			err = nil // while the database is down, no caller is known
		}
	}()
	c.Token = true
	if token, given := bearer(r); given {
		c.TokenSHA256 = relabel.HashSecret(token)
		c.Access, err = s.checkToken(r, c.TokenSHA256)
		return c, err
	}
	cookie, err := r.Cookie(relabel.SessionCookie)
	if err != nil || isAPI(r.URL.Path) && !reads(r) {
		return c, nil
	}
	c.Session = cookie.Value
	c.Access, err = s.Store.CheckSession(r.Context(), relabel.HashSecret(cookie.Value))
	return c, err
}

// checkToken returns the access of the token with this hash. A caller that fails repeatedly
// must wait.
func (s *site) checkToken(r *http.Request, sha256 string) (relabel.Access, error) {
	if wait := s.Attempts.Wait(r.RemoteAddr, sha256); wait > 0 {
		return relabel.NoAccess, &waitError{wait}
	}
	access, err := s.Store.CheckToken(r.Context(), sha256)
	switch {
	case err != nil: // the database's fault, not the caller's
	case access == relabel.NoAccess:
		s.Attempts.Failed(r.RemoteAddr, sha256)
	default:
		s.Attempts.Succeeded(r.RemoteAddr, sha256)
	}
	return access, err
}

// waitError is the error of a caller that must wait before it retries.
type waitError struct{ after time.Duration }

// Error returns the message for the caller.
func (w *waitError) Error() string { return w.Unwrap().Error() }

// Unwrap returns the refusal.
func (w *waitError) Unwrap() error {
	return relabel.Errorf(relabel.CodeBusy, "too many unknown tokens came from this address; retry in %d seconds", w.seconds())
}

// seconds is the wait in whole seconds, rounded up.
func (w *waitError) seconds() int { return int((w.after + time.Second - 1) / time.Second) }

// mayRead reports whether the reader of a stream still has access. While the database is down,
// all readers keep it.
func (s *site) mayRead(r *http.Request) bool {
	c, err := s.caller(r)
	return err != nil || c.Access != relabel.NoAccess
}

// trusts reports whether the caller may have details at a path that is open to all.
func (s *site) trusts(r *http.Request) bool {
	c, _ := relabel.CallerOf(r.Context())
	return c.Access != relabel.NoAccess
}

// bearer returns the request's token.
func bearer(r *http.Request) (token string, given bool) {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token = strings.TrimSpace(rest)
	return token, token != ""
}

// reads reports whether a request changes nothing.
func reads(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// setSecurityHeaders sets what holds for every answer. Pages replace the policy by
// their own, which still loads nothing from elsewhere.
func setSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if isAPI(r.URL.Path) {
			h.Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}
