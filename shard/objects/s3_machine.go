package objects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Variables of the keys that a container has by its role.
const (
	containerPath    = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
	containerAddress = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
)

// containerHosts are the hosts that may give keys without TLS.
var containerHosts = []string{"169.254.170.2", "169.254.170.23", "fd00:ec2::23", "127.0.0.1", "::1", "localhost"}

// machineKeys returns the source of the keys of the machine's role.
func (s settings) machineKeys() (keySource, error) {
	address := os.Getenv(containerAddress)
	if path := os.Getenv(containerPath); path != "" {
		address = "http://169.254.170.2" + path
	}
	switch {
	case !s.cloudKeys && address != "":
		return nil, SettingError("the container has a role (" + containerAddress + "), which relabel uses only with --cloud-credentials: give serve and worker that flag")
	case address != "":
		return containerKeys(address)
	case !s.cloudKeys || strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true"):
		return func(context.Context) (k awsKeys, ends time.Time, err error) { return k, ends, ErrNoKeys }, nil
	}
	return instanceKeys, nil
}

// decodeRole decodes an answer of a service of the machine.
func decodeRole(body []byte) (keys awsKeys, ends time.Time, err error) {
	var role struct {
		AccessKeyId, SecretAccessKey, Token string
		Expiration                          time.Time
	}
	if err := json.Unmarshal(body, &role); err != nil || role.AccessKeyId == "" {
		return keys, ends, fmt.Errorf("the machine's metadata service gave no keys of a role: %w", errors.Join(err, ErrNoKeys))
	}
	return awsKeys{role.AccessKeyId, role.SecretAccessKey, role.Token}, role.Expiration, nil
}

// containerKeys returns the source of the keys of a container in ECS or EKS.
func containerKeys(address string) (keySource, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && !slices.Contains(containerHosts, u.Hostname()) {
		return nil, SettingError(containerAddress + " must be an https URL, or one of this machine")
	}
	return func(ctx context.Context) (keys awsKeys, ends time.Time, err error) {
		body, err := askForKeys(ctx, metadata, func(ctx context.Context) (*http.Request, error) {
			token := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
			if os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") != "" {
				if token, err = tokenFile("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); err != nil {
					return nil, err
				}
			}
			return machineRequest(ctx, http.MethodGet, address, "Authorization", token)
		})
		if err != nil {
			return keys, ends, err
		}
		return decodeRole(body)
	}, nil
}

// instanceKeys asks the metadata service of an EC2 instance for the keys of its role. A machine that has no such service
// has no keys.
func instanceKeys(ctx context.Context) (keys awsKeys, ends time.Time, err error) {
	host := "http://169.254.169.254"
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), "IPv6") {
		host = "http://[fd00:ec2::254]"
	}
	host = strings.TrimRight(cmp.Or(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), host), "/") + "/latest"
	ask := func(method, path, header, value string) (string, error) {
		body, err := askForKeys(ctx, metadata, func(ctx context.Context) (*http.Request, error) {
			return machineRequest(ctx, method, host+path, header, value)
		})
		if err != nil {
			return "", fmt.Errorf("%w: the machine's metadata service: %w", ErrNoKeys, err)
		}
		return strings.TrimSpace(string(body)), nil
	}
	session, err := ask(http.MethodPut, "/api/token", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
	if err != nil {
		return keys, ends, err
	}
	const roles, header = "/meta-data/iam/security-credentials/", "X-Aws-Ec2-Metadata-Token"
	role, err := ask(http.MethodGet, roles, header, session)
	if err != nil {
		return keys, ends, err
	}
	body, err := ask(http.MethodGet, roles+role, header, session)
	if err != nil {
		return keys, ends, err
	}
	return decodeRole([]byte(body))
}

// machineRequest returns a request to a service of the machine with a header, unless its value is "".
func machineRequest(ctx context.Context, method, address, header, value string) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return nil, SettingError("the address of the machine's metadata service is not a URL: check the variables that name it")
	}
	if value != "" {
		q.Header.Set(header, value)
	}
	return q, nil
}
