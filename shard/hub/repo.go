package hub

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// revision is what the Hub says of a revision of a repository.
type revision struct {
	SHA     string `json:"sha"`
	Private bool   `json:"private"`
}

// find returns the commit that a place's revision is.
func (c *Client) find(ctx context.Context, p Place) (r revision, err error) {
	_, err = c.call(ctx, request{method: http.MethodGet, address: c.repo(p, "revision", url.PathEscape(p.Revision))}, &r)
	if err == nil && !commitForm.MatchString(r.SHA) {
		err = &Error{Status: http.StatusOK, Message: "its answer has no commit", where: "GET " + p.Repo}
	}
	return r, err
}

// ensure creates the repository and the branch of a place if there are none, and returns its commit.
func (c *Client) ensure(ctx context.Context, p Place) (revision, error) {
	r, err := c.find(ctx, p)
	if isMissingRepo(err) && c.Token != "" {
		if err := c.createRepo(ctx, p); err != nil {
			return r, err
		}
		r, err = c.find(ctx, p)
		if err == nil && !p.Public && !r.Private {
			return r, bad("was asked to be private, and the Hub created it public: nothing was uploaded; make it private or delete it")
		}
	}
	if isMissingRevision(err) {
		if err := c.createBranch(ctx, p); err != nil {
			return r, err
		}
		r, err = c.find(ctx, p)
	}
	return r, err
}

// isMissingRepo reports whether there is no repository, or the token may not see it: the Hub does not
// tell these apart.
func isMissingRepo(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == repoNotFound || e.Code == "" && e.Status == http.StatusNotFound)
}

func isMissingRevision(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == "RevisionNotFound"
}

// createRepo creates a data set repository. It may exist by now.
func (c *Client) createRepo(ctx context.Context, p Place) error {
	organisation, name, _ := strings.Cut(p.Repo, "/")
	err := c.post(ctx, c.api("repos", "create"), map[string]any{"type": "dataset", "organization": organisation, "name": name, "private": !p.Public}, nil)
	if statusOf(err) == http.StatusConflict {
		return nil
	}
	return err
}

// createBranch creates a branch, which begins as the default branch is. It may exist by now.
func (c *Client) createBranch(ctx context.Context, p Place) error {
	err := c.post(ctx, c.repo(p, "branch", url.PathEscape(p.Revision)), map[string]any{}, nil)
	if statusOf(err) == http.StatusConflict {
		return nil
	}
	return err
}
