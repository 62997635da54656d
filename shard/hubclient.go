package shard

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relabel"
	"relabel/shard/hub"
)

// hubPatience is the longest time that one request waits for a busy Hub. An export waits and retries after that.
const hubPatience = 30 * time.Second

// Hub returns a client of the Hugging Face Hub with the settings of the Hub's own tools: HF_ENDPOINT, and the
// token in HF_TOKEN or in the file that `hf auth login` writes. patience is the longest time that one request waits for
// a busy Hub; agent is the name and version of this program. CodeInvalid if HF_ENDPOINT is not a URL.
func (d Destinations) Hub(agent string, patience time.Duration) (*hub.Client, error) {
	endpoint := strings.TrimRight(cmp.Or(os.Getenv("HF_ENDPOINT"), "https://huggingface.co"), "/")
	if _, ok := origin(endpoint); !ok {
		return nil, relabel.Errorf(relabel.CodeInvalid, "HF_ENDPOINT in relabel's environment is not the address of a server, such as https://huggingface.co").On("destination")
	}
	c := &hub.Client{Endpoint: endpoint, Token: hubToken(), Agent: agent, Patience: patience}
	if d.Transport != nil {
		c.HTTP = &http.Client{Transport: d.Transport}
	}
	return c, nil
}

// hubToken returns the token for the Hub, "" if there is none. As in the Hub's own tools, HF_TOKEN comes
// before the file.
func hubToken() string {
	if token := strings.TrimSpace(os.Getenv("HF_TOKEN")); token != "" {
		return token
	}
	name := os.Getenv("HF_TOKEN_PATH")
	if name == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if home, err := os.UserHomeDir(); cache == "" && err == nil {
			cache = filepath.Join(home, ".cache")
		}
		name = filepath.Join(cmp.Or(os.Getenv("HF_HOME"), filepath.Join(cache, "huggingface")), "token")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "" // a request that needs a token says so
	}
	return strings.TrimSpace(string(text))
}
