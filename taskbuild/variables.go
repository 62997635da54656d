package taskbuild

import (
	"slices"
	"strings"
)

// registryVariables name registries and proxies to package managers.
var registryVariables = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT", "UV_INDEX_URL", "UV_DEFAULT_INDEX",
	"GOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOPRIVATE", "NPM_CONFIG_REGISTRY", "YARN_REGISTRY", "CARGO_REGISTRIES_CRATES_IO_PROTOCOL", "CARGO_REGISTRY_INDEX",
}

// RegistryVariables returns the variables of an environment that name registries and proxies.
func RegistryVariables(environment []string) map[string]string {
	found := map[string]string{}
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && slices.Contains(registryVariables, strings.ToUpper(name)) {
			found[name] = value
		}
	}
	return found
}
