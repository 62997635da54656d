package hubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// signature stands in the addresses of the object store.
const signature = "X-Amz-Signature=0123456789abcdef"

func (s *Server) batch(w http.ResponseWriter, r *http.Request) {
	s.writable(func(w http.ResponseWriter, r *http.Request, _ *repo) {
		var asked struct {
			Operation string   `json:"operation"`
			Transfers []string `json:"transfers"`
			HashAlgo  string   `json:"hash_algo"`
			Objects   []object `json:"objects"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Operation != "upload" || asked.HashAlgo != "sha256" {
			fail(w, http.StatusUnprocessableEntity, "", "Invalid batch")
			return
		}
		objects := []map[string]any{}
		for _, o := range asked.Objects {
			told := map[string]any{"oid": o.OID, "size": o.Size}
			if _, there := s.objects[o.OID]; !there {
				told["authenticated"] = true
				told["actions"] = s.actions(o)
			}
			objects = append(objects, told)
		}
		w.Header().Set("Content-Type", "application/vnd.git-lfs+json")
		answer(w, http.StatusOK, map[string]any{"transfer": "basic", "objects": objects})
	})(w, r)
}

type object struct {
	OID  string `json:"oid"`
	Size int64  `json:"size"`
}

// actions are the requests by which an object is uploaded.
func (s *Server) actions(o object) map[string]any {
	verify := map[string]any{"href": s.URL + "/verify/" + o.OID}
	if s.PartBytes == 0 || o.Size <= s.PartBytes {
		return map[string]any{"upload": map[string]any{"href": s.Storage + "/objects/" + o.OID + "?" + signature}, "verify": verify}
	}
	header := map[string]any{"chunk_size": strconv.FormatInt(s.PartBytes, 10)}
	for number := int64(1); (number-1)*s.PartBytes < o.Size; number++ {
		header[fmt.Sprintf("%05d", number)] = fmt.Sprintf("%s/parts/%s/%d?%s", s.Storage, o.OID, number, signature)
	}
	return map[string]any{"upload": map[string]any{"href": s.URL + "/complete/" + o.OID + "?" + signature, "header": header}, "verify": verify}
}

// storage serves the object store.
func (s *Server) storage() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /objects/{oid}", s.signed(func(w http.ResponseWriter, r *http.Request, text []byte) {
		s.store(r.PathValue("oid"), text)
		w.Header().Set("ETag", `"`+sha(text)[:32]+`"`)
	}))
	mux.HandleFunc("PUT /parts/{oid}/{number}", s.signed(func(w http.ResponseWriter, r *http.Request, text []byte) {
		parts := s.uploads[r.PathValue("oid")]
		if parts == nil {
			parts = map[string][]byte{}
			s.uploads[r.PathValue("oid")] = parts
		}
		parts[r.PathValue("number")] = text
		w.Header().Set("ETag", `"`+sha(text)[:32]+`"`)
	}))
	mux.HandleFunc("GET /objects/{oid}", s.signed(func(w http.ResponseWriter, r *http.Request, _ []byte) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.objects[r.PathValue("oid")]))
	}))
	return mux
}

// store keeps an object.
func (s *Server) store(oid string, text []byte) {
	if s.Alter != nil {
		text = s.Alter(text)
	}
	s.objects[oid] = text
}

// signed serves a request of the object store, which needs a signature and refuses tokens.
func (s *Server) signed(do func(w http.ResponseWriter, r *http.Request, text []byte)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("Authorization") != "":
			http.Error(w, "<Error><Code>InvalidArgument</Code><Message>Only one auth mechanism allowed</Message></Error>", http.StatusBadRequest)
		case r.URL.RawQuery != signature:
			http.Error(w, "<Error><Code>SignatureDoesNotMatch</Code></Error>", http.StatusForbidden)
		case err != nil || r.ContentLength >= 0 && int64(len(text)) != r.ContentLength:
			http.Error(w, "<Error><Code>IncompleteBody</Code></Error>", http.StatusBadRequest)
		default:
			s.mu.Lock()
			defer s.mu.Unlock()
			do(w, r, text)
		}
	}
}

// completeParts joins the parts of an object.
func (s *Server) completeParts(w http.ResponseWriter, r *http.Request) {
	var done struct {
		OID   string `json:"oid"`
		Parts []struct {
			Number int    `json:"partNumber"`
			Etag   string `json:"etag"`
		} `json:"parts"`
	}
	if err := json.NewDecoder(r.Body).Decode(&done); err != nil {
		fail(w, http.StatusBadRequest, "", "Invalid JSON")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var text []byte
	for i, part := range done.Parts {
		one, is := s.uploads[r.PathValue("oid")][strconv.Itoa(part.Number)]
		if !is || part.Number != i+1 || part.Etag != `"`+sha(one)[:32]+`"` {
			fail(w, http.StatusBadRequest, "", "Invalid part")
			return
		}
		text = append(text, one...)
	}
	if sha(text) != r.PathValue("oid") {
		fail(w, http.StatusBadRequest, "", "The object has another hash")
		return
	}
	s.store(r.PathValue("oid"), text)
	answer(w, http.StatusOK, map[string]any{"success": true})
}

// verifyObject confirms that an object was uploaded. It needs the token, as the Hub does.
func (s *Server) verifyObject(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, is := s.objects[r.PathValue("oid")]
	switch {
	case bearer(r) != Token:
		fail(w, http.StatusUnauthorized, "", "Invalid username or password.")
	case !is || s.Alter == nil && sha(text) != r.PathValue("oid"):
		fail(w, http.StatusBadRequest, "", "The object was not uploaded, or has another hash")
	default:
		answer(w, http.StatusOK, map[string]any{"success": true})
	}
}
