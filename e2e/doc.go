// Package e2e tests the whole program: processes of relabel with Postgres, Docker and model endpoints.
package e2e
