package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"
	"golang.org/x/term"

	"relabel/cli"
	"relabel/outbound"
	"relabel/policy"
	"relabel/shard"
	"relabel/shard/tokenizers"
	"relabel/store"
	"relabel/store/localpg"
	"relabel/worker"
)

// process is what the parts of a serving or working process share.
type process struct {
	db           *localpg.Database
	data         string // folder of the exports, and of uploads while they are received
	tokenizers   *tokenizers.Opener
	rule         outbound.Rule // of addresses
	destinations shard.Destinations
	secrets      policy.Secrets // the exports must not have their values
	metrics      *worker.Metrics
	log          zerolog.Logger // of requests and rollouts
}

// openProcess returns the process of a database. CodeInvalid if checkResources refuses the flags.
func openProcess(db *localpg.Database, data string, f cli.ResourceFlags, log zerolog.Logger) (*process, error) {
	if err := checkResources(f); err != nil {
		return nil, err
	}
	rule, err := outbound.NewRule(f.AllowAddress)
	if err != nil {
		return nil, err
	}
	opener, err := tokenizers.NewOpener(db.Store, f.Tokenizers)
	if err != nil {
		return nil, err
	}
	return &process{
		db: db, data: data, tokenizers: opener, rule: rule, metrics: worker.NewMetrics(version), log: log,
		destinations: shard.Destinations{Transport: rule.Transport(), Endpoints: f.DestinationEndpoint, CloudKeys: f.CloudCredentials},
	}, nil
}

// checkResources refuses flags that openProcess cannot use.
func checkResources(f cli.ResourceFlags) error {
	for _, endpoint := range f.DestinationEndpoint {
		if err := shard.CheckEndpoint(endpoint); err != nil {
			return err
		}
	}
	_, err := outbound.NewRule(f.AllowAddress)
	return errors.Join(f.CheckTokenizers(), err)
}

// openDatabase opens and migrates the database. Without a URL it starts a local one.
func openDatabase(ctx context.Context, f cli.DatabaseFlags) (*localpg.Database, error) {
	if f.Database == "" && !localpg.Exists(f.Data) { // perhaps the folder is misspelt
		fmt.Fprintf(os.Stderr, "%s has no database yet: creating one.\n", f.Data)
	}
	return localpg.Open(ctx, f.Data, f.Database)
}

// exporter returns an exporter for the data folder.
func (p *process) exporter() (*shard.Exporter, error) {
	root := filepath.Join(p.data, "exports")
	folder, err := shard.FolderID(root)
	if err != nil {
		return nil, err
	}
	return shard.NewExporter(shard.Config{Store: p.db.Store, Tokenizers: p.tokenizers, Destinations: p.destinations,
		Root: root, FolderID: folder, Machine: worker.MachineName(), Log: p.log, Version: version, OwnSecrets: ownSecrets(p.secrets)}), nil
}

// keyVariables are the variables with keys of destinations.
var keyVariables = []string{"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_CLIENT_SECRET",
	"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING"}

// ownSecrets returns the secrets that this process has, by name.
func ownSecrets(of policy.Secrets) map[string]string {
	all := of.All()
	for _, name := range keyVariables {
		all[name] = os.Getenv(name)
	}
	return all
}

// exportQueues adds the queues of x, for its own folder and for buckets, with one job at a time
// each.
func exportQueues(x *shard.Exporter, queues map[string]river.QueueConfig) map[string]river.QueueConfig {
	queues[store.ExportQueue("")] = river.QueueConfig{MaxWorkers: 1}
	queues[store.ExportQueue(x.FolderID)] = river.QueueConfig{MaxWorkers: 1}
	return queues
}

// startDeletions finishes deletions of large runs, which requests began, until stop.
func startDeletions(ctx context.Context, db *localpg.Database, log zerolog.Logger) (stop func()) {
	const failure = "deleting a run failed; it is retried"
	s := worker.Task{Period: 5 * time.Second, Run: db.FinishDeletions, Failure: failure, Log: log}.Service()
	s.Start(ctx)
	return s.Stop
}

// quietLog logs only warnings and errors.
func quietLog() zerolog.Logger { return newLog().Level(zerolog.WarnLevel) }

// newLog logs readable lines on a terminal and JSON lines elsewhere.
func newLog() zerolog.Logger {
	var out io.Writer = os.Stderr
	if term.IsTerminal(int(os.Stderr.Fd())) {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(zerolog.InfoLevel).With().Timestamp().Logger()
}
