package server

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"relabel"
)

// crossOrigin refuses changes that a foreign web page asks a browser to make.
var crossOrigin = http.NewCrossOriginProtection()

// tokenNames are the query names under which callers put tokens by mistake.
var tokenNames = []string{"token", "access_token", "api_key", "apikey", "authorization", "bearer"}

// guard lets a request pass that is well-formed, meant for this server, not made by a
// foreign page, and authorised.
func (s *site) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, check := range []func(http.ResponseWriter, *http.Request) error{checkText, s.checkHost, checkOrigin, s.checkToken} {
			if err := check(w, r); err != nil {
				s.refuse(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// checkText refuses addresses that no stored text can equal, and tokens in them, which
// would end in logs and histories.
func checkText(_ http.ResponseWriter, r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return relabel.Errorf(codeMalformed, "the query is not well-formed")
	}
	texts := []string{r.URL.Path}
	for name, values := range query {
		texts = append(append(texts, name), values...)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return relabel.Errorf(codeMalformed, "the address holds a NUL or is not UTF-8")
		}
	}
	for _, name := range tokenNames {
		if query.Has(name) {
			return relabel.Errorf(relabel.CodeUnauthorized, "a token belongs into the Authorization header, never into the address").On("query." + name)
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
		return relabel.Errorf(relabel.CodeForbidden, "a page of another origin may change nothing here").On("header.Origin").Because(err)
	}
	return nil
}

// checkToken demands a bearer token where tokens are required. A browser that reads
// pages may give it as the password of HTTP's own prompt.
func (s *site) checkToken(w http.ResponseWriter, r *http.Request) error {
	if !s.RequireToken || r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		return nil
	}
	if known, err := s.knows(r); known || err != nil {
		return err
	}
	w.Header().Add("WWW-Authenticate", `Bearer realm="relabel"`)
	if reads(r) && strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Add("WWW-Authenticate", `Basic realm="relabel: the token is the password"`)
	}
	return relabel.Errorf(relabel.CodeUnauthorized, "a known token is needed: Authorization: Bearer …; relabel token create makes one")
}

// knows reports whether the request carries a token that is known. Its hash is looked
// up, so that timing tells nothing about the token.
func (s *site) knows(r *http.Request) (bool, error) {
	token, given := bearer(r)
	if !given {
		return false, nil
	}
	sum := sha256.Sum256([]byte(token))
	return s.Store.CheckToken(r.Context(), hex.EncodeToString(sum[:]))
}

// trusts reports whether the caller may have details at a path that is open to all.
// While the database is gone nobody is known.
func (s *site) trusts(r *http.Request) bool {
	if !s.RequireToken {
		return true // it came over the loopback address
	}
	known, err := s.knows(r)
	return known && err == nil
}

// bearer returns the request's token.
func bearer(r *http.Request) (token string, given bool) {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
		return token, token != ""
	}
	if _, password, ok := r.BasicAuth(); ok && reads(r) {
		return password, password != ""
	}
	return "", false
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
