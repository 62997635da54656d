package dockertest

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

// guard passes requests on to those who know the password.
func (r *Registry) guard(behind string) http.Handler {
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: behind})
		p.Out.Host = p.In.Host // it answers with addresses of its own
		p.Out.Header.Del("Authorization")
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.Requests.Add(1)
		user, password, _ := req.BasicAuth()
		if r.User != "" && (user != r.User || password != r.Password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, req)
	})
}
