package objects

import (
	"cmp"
	"encoding/base64"
	"os"
	"strconv"
	"strings"
)

// azureAccount is a storage account and what the environment has to sign its requests.
type azureAccount struct {
	server string // its URL, without a slash at its end
	name   string // that the key belongs to
	key    []byte // nil: none
	sas    string // a shared access signature; "": none
}

// azureAccount returns the account that the destination and the environment name.
func (p Place) azureAccount() (a azureAccount, err error) {
	name, key, sas := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY"), os.Getenv("AZURE_STORAGE_SAS_TOKEN")
	connection := connectionString()
	if connection != "" && (name == "" || key == "") && sas == "" {
		return p.connected(connection)
	}
	if a.server, err = p.azureServer(connection); err != nil {
		return a, err
	}
	if name == "" || key == "" {
		a.sas = strings.TrimPrefix(sas, "?")
		return a, nil
	}
	a.name = name
	if a.key, err = base64.StdEncoding.DecodeString(key); err != nil {
		return a, SettingError("AZURE_STORAGE_KEY is not a key: it must be Base64")
	}
	return a, nil
}

func connectionString() string {
	return cmp.Or(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING"))
}

// azureServer returns the URL of the account's server.
func (p Place) azureServer(connection string) (string, error) {
	parts := connectionParts(connection)
	account := cmp.Or(p.Options.Get("storage_account"), os.Getenv("AZURE_STORAGE_ACCOUNT"), parts["AccountName"])
	if account == "" {
		return "", SettingError("there is no storage account: set AZURE_STORAGE_ACCOUNT, or give the destination the option storage_account")
	}
	domain := cmp.Or(p.Options.Get("domain"), os.Getenv("AZURE_STORAGE_DOMAIN"), "blob.core.windows.net")
	protocol := cmp.Or(p.Options.Get("protocol"), os.Getenv("AZURE_STORAGE_PROTOCOL"), parts["DefaultEndpointsProtocol"], "https")
	local, notLocal := isTrue(p.Options.Get("localemu"), "AZURE_STORAGE_IS_LOCAL_EMULATOR")
	cdn, notCDN := isTrue("", "AZURE_STORAGE_IS_CDN")
	if err := cmp.Or(notLocal, notCDN); err != nil {
		return "", err
	}
	switch {
	case protocol != "http" && protocol != "https":
		return "", SettingError("the protocol of Azure's storage must be http or https")
	case local || strings.HasPrefix(domain, "127.0.0.1") || strings.HasPrefix(domain, "localhost"):
		return protocol + "://" + domain + "/" + account, nil
	case cdn:
		return protocol + "://" + domain, nil
	}
	return protocol + "://" + account + "." + domain, nil
}

// isTrue reads an option, or the variable if it is empty.
func isTrue(option, variable string) (bool, error) {
	is, err := strconv.ParseBool(cmp.Or(option, os.Getenv(variable), "false"))
	if err != nil {
		return false, SettingError(variable + " must be true or false")
	}
	return is, nil
}

// connected returns the account of a connection string, which names its server itself.
func (p Place) connected(text string) (a azureAccount, err error) {
	parts := connectionParts(text)
	for _, option := range []string{"domain", "protocol", "localemu"} {
		if p.Options.Get(option) != "" {
			return a, SettingError("AZURE_STORAGE_CONNECTION_STRING names the server: remove the option " + option + " from the destination")
		}
	}
	if named := p.Options.Get("storage_account"); named != "" && parts["AccountName"] != "" && named != parts["AccountName"] {
		return a, SettingError("AZURE_STORAGE_CONNECTION_STRING is of another account than the destination's storage_account: change one of them")
	}
	a.server = strings.TrimRight(parts["BlobEndpoint"], "/")
	if a.server == "" && parts["AccountName"] != "" {
		a.server = cmp.Or(parts["DefaultEndpointsProtocol"], "https") + "://" + parts["AccountName"] + ".blob." + cmp.Or(parts["EndpointSuffix"], "core.windows.net")
	}
	key, err := base64.StdEncoding.DecodeString(parts["AccountKey"])
	switch {
	case a.server == "":
		return a, SettingError("AZURE_STORAGE_CONNECTION_STRING needs AccountName or BlobEndpoint")
	case parts["AccountName"] != "" && len(key) > 0 && err == nil:
		a.name, a.key = parts["AccountName"], key
	case parts["SharedAccessSignature"] != "":
		a.sas = strings.TrimPrefix(parts["SharedAccessSignature"], "?")
	default:
		return a, SettingError("AZURE_STORAGE_CONNECTION_STRING needs AccountName with AccountKey, or SharedAccessSignature")
	}
	return a, nil
}

// connectionParts returns the parts of a connection string by their names.
func connectionParts(text string) map[string]string {
	parts := map[string]string{}
	for _, part := range strings.Split(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return parts
}
