package web

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"

	"relabel"
	"relabel/web/show"
)

// fileStyle returns the style of a trajectory's file, and a content policy that allows nothing else.
func (c *content) fileStyle() (style template.CSS, policy string) {
	body := c.assets["style.css"].body
	sum := sha256.Sum256(body)
	return template.CSS(body), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

type fileView struct {
	trajectoryView
	Style  template.CSS
	Policy string
}

// writeFile writes the whole trajectory as one HTML file without external resources. It streams
// a few megabytes at a time.
func (v *viewer) writeFile(w http.ResponseWriter, r *http.Request, view trajectoryView) (err error) {
	if view.Outcome, err = v.outcome(r.Context(), view, show.Limits{}); err != nil {
		return err
	}
	c, err := v.content()
	if err != nil {
		return err
	}
	style, policy := c.fileStyle()
	h := w.Header()
	h.Set("Content-Security-Policy", policy+"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.html"`, fileName(view)))
	if err := v.writeParts(r, w, c.templates["file"], fileView{view, style, policy}); err != nil {
		v.Log.Error().Err(err).Str("path", r.URL.Path).Msg("file of a trajectory")
		panic(http.ErrAbortHandler) // the client must see that it is incomplete
	}
	return nil
}

// writeParts writes head, turns and end.
func (v *viewer) writeParts(r *http.Request, w io.Writer, t *template.Template, view fileView) error {
	if err := t.ExecuteTemplate(w, "file-head", view); err != nil {
		return err
	}
	err := v.walkTurns(r.Context(), view.trajectoryView, func(turns []relabel.Turn) error {
		excerpts := make([]relabel.TurnExcerpt, len(turns))
		for i, turn := range turns {
			excerpts[i] = wholeExcerpt(turn)
		}
		cards, err := v.viewTurns(r.Context(), view.trajectoryView, excerpts, func(int) show.Limits { return show.Limits{} })
		for _, c := range cards {
			if c.File = true; err == nil {
				err = t.ExecuteTemplate(w, "turn", c)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "file-end", view)
}

// fileName names a file after task and iteration, in characters that all systems accept.
func fileName(v trajectoryView) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", r) {
			return r
		}
		return '-'
	}, fmt.Sprintf("%.80s-%s-%d-%s", v.InstanceID, v.Trajectory.Kind, v.Trajectory.Iteration, short(v.ID)))
}
