// Made by `npm run openapi` from libs/sdk/openapi.json; changes here are overwritten.

export interface paths {
    "/api/v1/admin/model-api/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List model API products, newest first
         * @description With drafts and those that are no longer served. Clients read the catalog instead, which shows what is published for them.
         */
        get: operations["listModelApiProducts"];
        put?: never;
        /**
         * Create a model API product
         * @description It is a draft until a publication says which bindings serve it. A tenant's slugs begin with its own name; the operator tenant may choose any.
         */
        post: operations["createModelApiProduct"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/model-api/publications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List publications, newest first
         * @description Every version of every product: published, superseded and withdrawn.
         */
        get: operations["listModelApiPublications"];
        put?: never;
        /**
         * Publish a qualified shared model API route
         * @description The next version of the product takes the place of the one that is published, at once and as a whole. An audience beyond the tenant itself is for the operator tenant.
         */
        post: operations["createModelApiPublication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/model-api/publications/{id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw a publication
         * @description Its slug is no longer served. Withdrawing it again answers the same.
         */
        post: operations["withdrawModelApiPublication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/model-api/target-bindings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List target bindings, newest first
         * @description With what the last qualification of each found. Credentials are never shown.
         */
        get: operations["listTargetBindings"];
        put?: never;
        /**
         * Bind a model API product to an immutable operator execution target
         * @description A binding never changes. It serves once it is qualified and a publication names it.
         */
        post: operations["createTargetBinding"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/model-api/target-bindings/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect a target binding
         * @description With what its last qualification found. The credential is never shown.
         */
        get: operations["getTargetBinding"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/model-api/target-bindings/{id}/qualify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Qualify a target binding by calling its target
         * @description Lists its models, asks for a completion, a streamed one and one of an unknown model.
         */
        post: operations["qualifyTargetBinding"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who changed what, newest first
         * @description One row a mutation, written with it, and one an hour at most for reads alike that matter. Rows are sealed into a hash chain about a second later.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/autopilot/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List plans, newest first
         * @description With the state of their approval. `state` and `deployment` narrow the list.
         */
        get: operations["listAutopilotPlans"];
        put?: never;
        /**
         * Create an advisory plan
         * @description For people and outside optimizers. The content is frozen; it keeps to the policy in force, whose version it cites.
         */
        post: operations["createAutopilotPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/autopilot/plans/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect an immutable advisory plan
         * @description Its content never changes; `approval` and `stale` beside it do. `content_digest` is what an approval must name. `If-None-Match` with the ETag answers 304 while nothing has changed.
         */
        get: operations["getAutopilotPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/autopilot/plans/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record human approval without changing serving state
         * @description Executing an approved plan is a rollout with its `plan_id`. Approvals count people: all tokens of one owner are one, and a service approves nothing.
         */
        post: operations["approveAutopilotPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/autopilot/plans/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a plan, or take it back
         * @description Final: a rejected plan cannot be approved any more. The creator may take it back this way; serving state does not change.
         */
        post: operations["rejectAutopilotPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/console/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List mapped identities, newest first
         * @description Granted and revoked ones, each with the scopes it has.
         */
        get: operations["listConsoleAccess"];
        /**
         * Map a hosted identity and grant or revoke private-console access
         * @description Provider, organization and user name the mapping, so repeating a request changes nothing. Access is granted to users of the organizations that the operator gave to the tenant; the operator tenant has those that nobody has. A revocation holds at the next request of the identity, open event streams included. An identity that several tenants know names one, by id or name, in the header `X-Slipway-Tenant`.
         */
        put: operations["setConsoleAccess"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/context-passports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a logical session known before its first request
         * @description Gateways make passports by themselves; this one only comes first. The same session again is the same passport, renewed.
         */
        post: operations["createContextPassport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/context-passports/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect logical session identity and best-effort affinity
         * @description Which revision and instance the session is bound to, and how often that held. Best effort: it follows the gateways by about a second. The session's key itself is never stored.
         */
        get: operations["getContextPassport"];
        put?: never;
        post?: never;
        /**
         * Revoke a context passport
         * @description From then on no gateway keeps the session in one place. Revoking it again answers the same.
         */
        delete: operations["revokeContextPassport"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deployments, newest first
         * @description `environment` and `label` narrow the list.
         */
        get: operations["listDeployments"];
        put?: never;
        /**
         * Create a deployment
         * @description Only a name for what will serve: roll out a revision to give it a model server. The name is what clients send to the gateway as `model`.
         */
        post: operations["createDeployment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect a deployment
         * @description Its state, the conditions behind that, which revisions are active, candidate and previous, the route, and the operation under way. `If-Match` of other operations takes its `etag`.
         */
        get: operations["getDeployment"];
        put?: never;
        post?: never;
        /**
         * Delete a deployment
         * @description A durable operation of kind `delete_deployment`: takes the route away, lets requests in flight end, stops the instances, frees the name.
         */
        delete: operations["deleteDeployment"];
        options?: never;
        head?: never;
        /**
         * Change the settings of a deployment
         * @description A JSON merge patch (RFC 7386): what it names changes, `null` takes a field away or back to its default, labels merge key by key. A rollout that runs goes on as it began. Lowering `protection` needs the scope admin.
         */
        patch: operations["updateDeployment"];
        trace?: never;
    };
    "/api/v1/deployments/{name}/continual-optimization/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect the continual-optimization policy in force
         * @description 404 `policy_not_found` until one was set. The version in force is the one that new plans cite and keep to.
         */
        get: operations["getContinualOptimizationPolicy"];
        /**
         * Set workload, evidence, experiment budget, reliability and promotion boundaries
         * @description Replaces the whole policy; what is absent gets its default. Every version is kept. A body equal to the version in force makes no new one.
         */
        put: operations["setContinualOptimizationPolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or follow the events of a deployment
         * @description With `Accept: text/event-stream` the events are streamed, from `Last-Event-ID` or `after` on, else from the first that is kept.
         */
        get: operations["listDeploymentEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the instances of a deployment, newest first
         * @description Of all its revisions, with those that have stopped. `failure` says why the last start came to nothing, `progress` how far one is.
         */
        get: operations["listInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/instances/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read or follow the output of an instance
         * @description Text, a line each, without what looks like a secret; it is kept for each start. With `follow=true` a stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit tells who read.
         */
        get: operations["getInstanceLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show how requests to a deployment went
         * @description By revision and step, from the records of the gateways that gates judge, by the same measures. What an analysis compared, with its limits and its verdict, stands in the `evidence` of its step of the operation.
         */
        get: operations["getDeploymentMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the revisions of a deployment, newest first
         * @description Each is immutable. `state` says whether it serves, waits warm, was retired or failed.
         */
        get: operations["listRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/revisions/{a}/diff/{b}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare the specs of two revisions as a JSON Patch
         * @description `patch` turns the spec of the first into that of the second (RFC 6902).
         */
        get: operations["diffRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/revisions/{revision}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect one revision by id, number or name
         * @description Its spec as it was rolled out, with defaults filled in, where it came from, and its state; `message` says why it failed.
         */
        get: operations["getRevision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll back to a prior revision
         * @description Points the traffic back at an earlier revision, the same immutable one, which is brought up before anything moves. Where the target has no room for both, what runs is stopped first, and requests wait. Without `to_revision` it picks the last good one. A running rollout is superseded. Works while the active revision is dead. Answers 202 with an operation.
         */
        post: operations["createRollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/rollouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a candidate revision and roll it out
         * @description Builds the candidate of `spec`, or of `spec_patch` on the active revision, beside the one that serves, proves it ready, and moves the traffic as `strategy` says: `candidate` (unless the deployment has another default) moves none, `immediate` all at once, `canary` and `blue_green` step by step with `analysis`. `recreate` stops what serves before it starts the candidate, for targets without room for both: requests wait for at most `hold_seconds` each. Whatever fails puts back the route it found. `GET /targets` says which targets and engines there are. Answers 202 with an operation.
         */
        post: operations["createRollout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/route": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect the active route
         * @description 404 `route_not_found` until a rollout or a PUT has set one. `etag` goes into `If-Match` of the next PUT.
         */
        get: operations["getRoute"];
        /**
         * Set the active route target
         * @description `{"revision": "..."}` gives one revision all traffic; `targets` splits it. Gateways follow the commit.
         */
        put: operations["setRoute"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-api-catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List managed model APIs
         * @description Those that are published for the tenant of the caller, by slug.
         */
        get: operations["listModelApiCatalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-api-catalog/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect one managed model API identity without disclosing its supplier
         * @description By id, or by slug with `%2F` for the slash.
         */
        get: operations["getModelApiCatalogEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List durable operations, newest first
         * @description `status`, `kind` and `resource_name` narrow the list.
         */
        get: operations["listOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect one durable operation
         * @description The record itself: how far it is (`progress`, `current_step`, `steps`), how it ended (`status`, `result`), or why it failed (`error_code`, `message`). Ask again until `status` is `succeeded`, `failed` or `cancelled`, or follow its events.
         */
        get: operations["getOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a live operation
         * @description The operation undoes what it has begun and ends `cancelled`. Asking again changes nothing.
         */
        post: operations["cancelOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or follow the events of an operation
         * @description With `Accept: text/event-stream` the events are streamed, from `Last-Event-ID` or `after` on; the stream ends behind the last event of an operation that has ended, and a client that has that event is answered 204.
         */
        get: operations["listOperationEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume an operation that waits for a person
         * @description Approves a step that asked for it, or continues a paused rollout.
         */
        post: operations["resumeOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a failed operation
         * @description It re-enters at its first step that has not succeeded.
         */
        post: operations["retryOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sandboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sandboxes, newest first
         * @description With how much of their workspace is used.
         */
        get: operations["listSandboxes"];
        put?: never;
        /**
         * Create a sandbox, local or on a reference to an external one
         * @description A durable workspace for files; Slipway runs nothing in it. With `reference_id` its files are passed on to the external sandbox.
         */
        post: operations["createSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sandboxes/references": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List references to external sandboxes, newest first
         * @description Active and revoked ones, never with their credential.
         */
        get: operations["listSandboxReferences"];
        put?: never;
        /**
         * Register an externally hosted sandbox
         * @description Also makes the sandbox whose files are passed on to it. Nothing is sent to the external sandbox.
         */
        post: operations["createSandboxReference"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sandboxes/references/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke the service's access to an external sandbox without changing it
         * @description Erases the credential and sends nothing. Revoking again answers the same.
         */
        delete: operations["revokeSandboxReference"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sandboxes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect one tenant-owned sandbox
         * @description Its provider, state and workspace. Never a credential.
         */
        get: operations["getSandbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sandboxes/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the files of a sandbox, or download one
         * @description Without `path` the list, by path. With `path` that file's bytes, which `If-None-Match` spares.
         */
        get: operations["listSandboxFiles"];
        /**
         * Stream a bounded file into the durable workspace of a sandbox
         * @description A JSON object with the file as text, up to 8 MiB, or the bare bytes with `?path=`, up to the service's limit. Verifies `Content-Digest` (RFC 9530: sha-256, sha-512). Replaces a file whole or not at all.
         */
        put: operations["putSandboxFile"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show how the service itself is doing
         * @description Versions, how long things are kept and, for the operator tenant, what lives: Postgres, the backlog of operations, workers and gateways.
         */
        get: operations["getSystem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List execution targets by name
         * @description Where revisions can run: the targets that the operator's configuration has for this tenant, without commands, addresses and secrets.
         */
        get: operations["listTargets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tenants, oldest first
         * @description For admins of the operator tenant.
         */
        get: operations["listTenants"];
        put?: never;
        /**
         * Create a tenant and its first admin token
         * @description For admins of the operator tenant.
         */
        post: operations["createTenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tenants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change which organizations a tenant may map
         * @description For admins of the operator tenant. A JSON merge patch: what is given takes the place of what was.
         */
        patch: operations["updateTenant"];
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API tokens, newest first
         * @description With their scopes and when they were last used, never with their secret.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create an API token
         * @description `token` of the answer is the secret; it is shown this once and only its hash is stored. It ends after 90 days unless `expires_at` says otherwise, and grants no more than its maker has.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API token
         * @description Holds at the next request. Revoking again answers the same.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks, newest first
         * @description With why one was disabled, never with its secret.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Have events posted to a URL
         * @description Every event from now on is posted as a CloudEvent (structured JSON), signed as standard-webhooks.com describes, at least once and in order within its stream. Any 2xx answer within 10 s accepts it; anything else is repeated for about three days; 410 disables the webhook.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a webhook and its delivery log
         * @description What was not sent yet is not sent any more; a request under way may still arrive.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries of a webhook, newest event first
         * @description Ended deliveries are kept 30 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show tenant, actor, owner and scopes of the caller
         * @description The quickest way to see that a token works, and what it may do.
         */
        get: operations["whoAmI"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActorDto: {
            id: string;
            /**
             * @description `token`, `user`, or `system` for a part of the product
             * @example token
             */
            type: string;
        };
        AnalysisDto: {
            metrics: components["schemas"]["AnalysisMetricDto"][];
            /**
             * @default rollback
             * @enum {string}
             */
            on_failure?: "rollback" | "pause" | (string & {});
            /**
             * @default pause
             * @enum {string}
             */
            on_inconclusive?: "pause" | "rollback" | (string & {});
        };
        AnalysisMetricDto: {
            /** @enum {string} */
            check: "threshold" | "regression" | (string & {});
            /**
             * @description Reported, never blocks
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Breaches in a row that are forgiven
             * @default 0
             */
            failure_limit?: number;
            max_regression_percent?: number;
            /** @default 50 */
            min_samples?: number;
            /** @enum {string} */
            name: "error_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "e2e_latency_ms" | "output_tokens_per_s" | (string & {});
            /**
             * @description Where absent, lte for metrics that are better when lower, else gte
             * @enum {string}
             */
            operator?: "lte" | "gte" | (string & {});
            /**
             * @description The default of the metric where absent: p95 of values, rate of counts
             * @enum {string}
             */
            stat?: "avg" | "p50" | "p90" | "p95" | "p99" | "rate" | (string & {});
            threshold?: number;
            /** @description The soak where absent */
            window_seconds?: number;
        };
        AnalysisPatchDto: {
            metrics?: components["schemas"]["AnalysisMetricDto"][] | null;
            /** @enum {string|null} */
            on_failure?: "rollback" | "pause" | null;
            /** @enum {string|null} */
            on_inconclusive?: "pause" | "rollback" | null;
        };
        ApprovePlanDto: {
            comment?: string;
            /** @description The content_digest of the plan as it was read: what is approved is what was seen */
            plan_digest: string;
        };
        AttemptCountsDto: {
            /** @description The client left, which says nothing about the revision */
            cancelled: number;
            /** @description Answered 4xx */
            client_error: number;
            /** @description Ended before the first byte of an answer */
            connect_error: number;
            /** @description Answered 2xx or 3xx to the end */
            ok: number;
            /** @description Of those that failed, the ones that no client saw, because a further attempt followed */
            retried: number;
            /** @description Answered 5xx, timed out, or cut after the first byte */
            server_error: number;
        };
        AudienceDto: {
            /**
             * @description Ids of further tenants; only with visibility `tenant`, and for the operator tenant alone.
             * @default []
             */
            tenants?: string[];
            /**
             * @description `tenant`: the publishing tenant and those listed; `shared`: every tenant, for the operator tenant alone.
             * @default tenant
             * @enum {string}
             */
            visibility?: "tenant" | "shared" | (string & {});
        };
        AuditPageDto: {
            data: components["schemas"]["AuditRowDto"][];
            next_cursor: string | null;
        };
        AuditRowDto: {
            /** @example rollout.create */
            action: string;
            /**
             * @description Type and id.
             * @example token:tok_boot
             */
            actor: string;
            /** @description SHA-256 of the resource after, as canonical JSON. */
            after_digest: string | null;
            /**
             * Format: date-time
             * @description When the change was made, to the microsecond.
             */
            at: string;
            /** @description SHA-256 of the resource before, as canonical JSON. */
            before_digest: string | null;
            /** @description SHA-256 over `previous_hash` and the canonical JSON (RFC 8785) of this row without its two hashes. */
            hash: string | null;
            id: string;
            /** @description Hash of the row before; 64 zeros for the first one. */
            previous_hash: string | null;
            /** @description How many reads the row tells of: its own and those alike since the row before. Absent for a mutation. */
            reads?: number;
            /** @description `X-Request-Id` of the request; null where no request made the change. */
            request_id: string | null;
            /** @example chat */
            resource_name: string;
            /** @example deployment */
            resource_type: string;
            /** @description Position in the chain of the tenant, gapless from 1; null for about a second. */
            sequence: number | null;
            tenant_id: string;
        };
        BindingDto: {
            /** Format: date-time */
            created_at: string;
            /** @description An adopted server of its revision has another model by now: no gateway calls it until it has the right one again */
            drifted: boolean;
            /** @example bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            limits: components["schemas"]["BindingLimitsDto"];
            product_id: string;
            qualification: components["schemas"]["QualificationDto"];
            /** @enum {string} */
            state: "unqualified" | "qualified" | "suspended" | "retired" | (string & {});
            target: components["schemas"]["BoundTargetDto"];
            /** @description SHA-256; equal for equal targets */
            target_digest: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        BindingLimitsDto: {
            /** @description Requests at once, for each gateway */
            max_concurrency?: number | null;
            /** @description Requests a second, for each gateway */
            max_rps?: number | null;
        };
        BindingPageDto: {
            data: components["schemas"]["BindingDto"][];
            next_cursor: string | null;
        };
        BindingTargetDto: {
            /**
             * Format: uri
             * @description OpenAI-compatible server that the operator allows as a supplier.
             * @example https://models.inference.example.com/v1
             */
            base_url?: string;
            /**
             * Format: password
             * @description Bearer credential for the supplier; stored encrypted, shown never.
             */
            credential?: string;
            /** @description With `revision`: a deployment of this tenant. */
            deployment?: string;
            /** @description What the supplier calls the model. */
            model?: string;
            /** @description Id, number or name of its revision; resolved once and pinned. */
            revision?: string;
            /** @description With `base_url` and `model`: who runs the server. Shown to admins only. */
            supplier?: string;
        };
        BoundTargetDto: {
            base_url?: string;
            deployment?: string;
            deployment_id?: string;
            model?: string;
            /** @description Name of the pinned revision */
            revision?: string;
            revision_id?: string;
            supplier?: string;
        };
        CancelOperationDto: {
            /** @description Why; it stands in the record and in the event */
            reason?: string;
        };
        CapacityDto: {
            /** @description Null where the target does not tell, or has no limit */
            free: number | null;
            /** @description For how long requests are expected to wait, by the last measured starts; 0 where none waits, null where none was measured */
            gap_seconds: number | null;
            /** @description Places or devices that the revision takes */
            needed: number;
            target: string;
        };
        CatalogEndpointDto: {
            /** @example http://127.0.0.1:7080/v1 */
            base_url: string;
            /**
             * @description What to send as `model`
             * @example acme/chat
             */
            model: string;
        };
        CatalogEntryDto: {
            /**
             * @description Measured
             * @enum {string}
             */
            availability: "available" | "degraded" | "unavailable" | (string & {});
            context_length: number | null;
            /** @description Seconds since 1970 */
            created: number;
            description: string | null;
            endpoint: components["schemas"]["CatalogEndpointDto"];
            /** @example prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            max_output_tokens: number | null;
            name: string;
            /** @enum {string} */
            object: "model" | (string & {});
            /** @description Measured in the last 15 minutes; null where nobody asked. */
            performance: components["schemas"]["CatalogPerformanceDto"] | null;
            pricing: components["schemas"]["CatalogPricingDto"] | null;
            /** @example acme/chat */
            slug: string;
            supported_parameters: string[];
        };
        CatalogPageDto: {
            data: components["schemas"]["CatalogEntryDto"][];
            next_cursor: string | null;
        };
        CatalogPerformanceDto: {
            /** @description Median of a request */
            output_tokens_per_s: number | null;
            /** @description Time to the first token of streamed requests; null where none was streamed. */
            ttft_ms: components["schemas"]["LatencyDto"] | null;
        };
        CatalogPricingDto: {
            /** @example USD */
            currency: string;
            input_per_mtok: number;
            output_per_mtok: number;
        };
        ConditionDto: {
            /**
             * Format: date-time
             * @description When the status last changed
             */
            last_transition_at: string;
            /** @description One sentence for people */
            message: string;
            /**
             * @description One word for programs
             * @example Serving
             */
            reason: string;
            /** @enum {string} */
            status: "True" | "False" | (string & {});
            /** @enum {string} */
            type: "Ready" | "Progressing" | "Degraded" | (string & {});
        };
        ConsoleAccessDto: {
            access: boolean;
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            external_organization_id: string;
            external_user_id: string;
            id: string;
            provider: string;
            /** @description Empty where access is revoked. */
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            /** @enum {string} */
            status: "active" | "revoked" | (string & {});
            /** Format: date-time */
            updated_at: string;
            updated_by: components["schemas"]["ActorDto"];
            warnings?: components["schemas"]["WarningDto"][];
        };
        ConsoleAccessListDto: {
            data: components["schemas"]["ConsoleAccessDto"][];
            next_cursor: string | null;
        };
        CreateBindingDto: {
            limits?: components["schemas"]["BindingLimitsDto"];
            product_id: string;
            /** @description Either `{deployment, revision}` or `{supplier, base_url, model, credential}`. */
            target: components["schemas"]["BindingTargetDto"];
        };
        CreateDeploymentDto: {
            /** @description Gate of a rollout that names no `analysis`. Rollouts without a soak, such as a first revision, pass none. */
            default_analysis?: components["schemas"]["AnalysisDto"];
            /** @description Strategy of a rollout that names none */
            default_strategy?: components["schemas"]["StrategyDto"];
            description?: string;
            display_name?: string;
            /** @example production */
            environment?: string;
            /**
             * @default {}
             * @example {
             *       "team": "search"
             *     }
             */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description What clients send as model; unique among the tenant's deployments
             * @example chat
             */
            name: string;
            /**
             * @description What the deployment is guarded against. To lower it takes the scope admin. A rollback is never refused.
             * @default {
             *       "deletion": false,
             *       "rollouts": "any"
             *     }
             */
            protection?: components["schemas"]["ProtectionDto"];
            /**
             * @description Revisions kept that no route, binding or rollback refers to
             * @default 10
             */
            revision_history_limit?: number;
            /** @description Overrides the `scaling` of its revisions, field by field; what it leaves out, the revision says */
            scaling?: components["schemas"]["ScalingOverrideDto"];
        };
        CreatePassportDto: {
            /** @description Until the first request; from then on the route decides. */
            affinity?: components["schemas"]["PassportAffinityRequestDto"];
            /**
             * @description What requests of the session send as `model`: the name of a deployment, or the slug of a model API.
             * @example chat
             */
            deployment: string;
            /** @description The key that requests of the session carry. Only a keyed hash of it is stored. */
            session_id: string;
            /** @description Whose session it is, in words of the caller. */
            subject?: string;
        };
        CreatePlanDto: {
            /** @description Id, number or name of the revision the plan is based on; it must be the active one, and is where absent */
            base_revision?: string;
            /** @description 409 plan_stale unless the base has this digest */
            base_spec_digest?: string;
            /**
             * @description What to change; derived from rollout where absent
             * @default []
             */
            changes?: components["schemas"]["PlanChangeDto"][];
            /**
             * @description Name of the deployment
             * @example chat
             */
            deployment: string;
            /** @default [] */
            evidence?: components["schemas"]["PlanEvidenceDto"][];
            /** @description What the author expects, in the author's own terms */
            predicted_impact?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description What the policy makes of the plan is added to it
             * @default {
             *       "level": "low",
             *       "reasons": []
             *     }
             */
            risk?: components["schemas"]["PlanRiskDto"];
            /**
             * @description A body for POST /deployments/{name}/rollouts; derived from changes where absent
             * @example {
             *       "spec_patch": {
             *         "scaling": {
             *           "min_replicas": 2
             *         }
             *       }
             *     }
             */
            rollout?: {
                [key: string]: unknown;
            };
            /** @default  */
            summary?: string;
        };
        CreateProductDto: {
            context_length?: number;
            description?: string;
            /** @description The slug unless given. */
            display_name?: string;
            max_output_tokens?: number;
            /**
             * @default [
             *       "text"
             *     ]
             */
            modalities?: ("text" | "image" | "audio" | "video" | "embedding" | "file")[];
            pricing?: components["schemas"]["PricingDto"];
            /**
             * @description `vendor/model`: what clients send as `model`. The vendor is the name of the tenant, except for the operator tenant.
             * @example acme/chat
             */
            slug: string;
            /**
             * @default []
             * @example [
             *       "temperature",
             *       "tools"
             *     ]
             */
            supported_parameters?: string[];
        };
        CreatePublicationDto: {
            /** @description The publishing tenant alone unless given. */
            audience?: components["schemas"]["AudienceDto"];
            bindings: components["schemas"]["PublicationBindingDto"][];
            notes?: string;
            product_id: string;
        };
        CreateReferenceDto: {
            /**
             * Format: uri
             * @description http or https, without user, query and fragment. Files go out only to what the operator allows.
             * @example https://49983-sandbox.e2b.app
             */
            base_url: string;
            /**
             * Format: password
             * @description Sent to the provider with each file; stored encrypted, shown never.
             */
            credential?: string;
            /** @description What the provider calls the sandbox. */
            external_id: string;
            /** @description Labels of the sandbox that is made with the reference. */
            labels?: {
                [key: string]: string;
            };
            /** @enum {string} */
            provider: "e2b" | "daytona" | "custom";
        };
        CreateSandboxDto: {
            /**
             * Format: date-time
             * @description From then on the sandbox and its files are gone. Never, unless given.
             */
            expires_at?: string;
            /**
             * @example {
             *       "team": "search"
             *     }
             */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description That of the reference where one is given, else local.
             * @enum {string}
             */
            provider?: "local" | "e2b" | "daytona" | "custom";
            /** @description An active reference: the files of this sandbox are passed on to its external sandbox. */
            reference_id?: string;
            workspace?: components["schemas"]["NewWorkspaceDto"];
        };
        CreateTenantDto: {
            /**
             * @description The organizations (`org_id` in the hosted provider's tokens) whose users the tenant may let in. One that no tenant has is the operator tenant's; one that several have, each of them may map.
             * @default []
             * @example [
             *       "org_01"
             *     ]
             */
            external_organization_ids?: string[];
            /**
             * @description Unique, in whatever case; neither begins nor ends with white space, and is in Unicode form NFKC without invisible characters. Slugs of the tenant begin with it. It cannot be changed.
             * @example acme
             */
            name: string;
            /** @description Who answers for the first token: the person `admin` unless given. */
            owner?: components["schemas"]["NewOwnerDto"];
        };
        CreateTokenDto: {
            /**
             * Format: date-time
             * @description In 90 days unless given; at most 365 days from now.
             */
            expires_at?: string | null;
            /** @example ci */
            name: string;
            /** @description That of the token it is made with, unless given. */
            owner?: components["schemas"]["NewOwnerDto"];
            /** @description Each includes the lesser ones. Duplicates collapse. */
            scopes: ("viewer" | "operator" | "admin")[];
        };
        CreateWebhookDto: {
            /**
             * @description Only events of these deployments. Empty = everything of the tenant.
             * @default []
             * @example [
             *       "chat"
             *     ]
             */
            deployments?: string[];
            /** @description For people */
            description?: string | null;
            /**
             * @description Which events to send: exact types, or all of a kind as in `rollout.*`. Empty = all.
             * @default []
             * @example [
             *       "rollout.*",
             *       "route.updated"
             *     ]
             */
            event_types?: string[];
            /**
             * @description https and a public address, or what the operator allows for webhooks. Redirects are not followed.
             * @example https://hooks.example.com/slipway
             */
            url: string;
        };
        CreatedTenantDto: {
            id: string;
            name: string;
            /** @description The tenant's first admin token. Shown once. */
            token: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        CreatedTokenDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that made it.
             * @example token:tok_boot
             */
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /**
             * Format: date-time
             * @description At most a minute old while the token is in use.
             */
            last_used_at: string | null;
            /** @description Owners of the tokens by which it was minted, the first one first. */
            minters: components["schemas"]["OwnerDto"][];
            name: string;
            owner: components["schemas"]["OwnerDto"];
            /** Format: date-time */
            revoked_at: string | null;
            revoked_by: string | null;
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            /** @enum {string} */
            state: "active" | "revoked" | "expired" | (string & {});
            /** @description The token itself. Shown once. */
            token: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        CreatedWebhookDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that made it.
             * @example token:tok_boot
             */
            created_by: string;
            deployments: string[];
            description: string | null;
            /** Format: date-time */
            disabled_at: string | null;
            /** @description `gone`: the receiver answered 410. */
            disabled_reason: ("gone" | (string & {})) | null;
            event_types: string[];
            id: string;
            /**
             * @description Signs every request (standard-webhooks, HMAC-SHA256). Shown once.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret: string;
            /** @enum {string} */
            state: "active" | "disabled" | (string & {});
            url: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedWebhookDto: {
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
        };
        DeploymentDto: {
            /**
             * @description Name of the revision that last held 100 % of the traffic
             * @example chat-00002
             */
            active_revision: string | null;
            /** @description Name of the revision a rollout has built or is building */
            candidate_revision: string | null;
            conditions: components["schemas"]["ConditionDto"][];
            /** Format: date-time */
            created_at: string;
            created_by: components["schemas"]["ActorDto"];
            current_operation_id: string | null;
            default_analysis: components["schemas"]["AnalysisDto"] | null;
            default_strategy: components["schemas"]["StrategyDto"] | null;
            description: string | null;
            display_name: string | null;
            /** @description What holds for its active revision: that one’s `scaling` under the deployment’s */
            effective_scaling: components["schemas"]["EffectiveScalingDto"] | null;
            environment: string | null;
            /** @description Also the ETag header; changes with what people and operations change, not with health */
            etag: string;
            /** @example dep_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            labels: {
                [key: string]: string;
            };
            /** @example chat */
            name: string;
            /** @description Name of the revision a rollback goes to by default */
            previous_revision: string | null;
            protection: components["schemas"]["ProtectionDto"];
            replicas: components["schemas"]["ReplicasDto"];
            revision_history_limit: number;
            route: components["schemas"]["DeploymentRouteDto"] | null;
            /** @description What it overrides of its revisions */
            scaling: components["schemas"]["ScalingOverrideDto"] | null;
            /** @enum {string} */
            state: "creating" | "active" | "progressing" | "paused" | "degraded" | "failed" | "deleting" | (string & {});
            /** Format: date-time */
            updated_at: string;
            /** @description Who last changed its settings; what operations do does not count */
            updated_by: components["schemas"]["ActorDto"];
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeploymentMetricsDto: {
            /**
             * Format: date-time
             * @description Until then the records of all gateways are there; steps that end later still change. Null: no gateway lives, or one has told nothing yet
             */
            complete_until: string | null;
            /** @description Newest first */
            data: components["schemas"]["RevisionMetricsDto"][];
            /** @example chat */
            deployment: string;
            /**
             * Format: date-time
             * @description Where the first step begins: a multiple of `step_seconds`
             */
            from: string;
            /** @description Whether further revisions had requests in that time: ask for them by `revision` */
            has_more: boolean;
            step_seconds: number;
            /** Format: date-time */
            to: string;
        };
        DeploymentPageDto: {
            data: components["schemas"]["DeploymentDto"][];
            next_cursor: string | null;
        };
        DeploymentRouteAffinityDto: {
            /** @enum {string} */
            mode: "none" | "soft" | (string & {});
            ttl_seconds: number;
        };
        DeploymentRouteDto: {
            affinity: components["schemas"]["DeploymentRouteAffinityDto"];
            generation: number;
            targets: components["schemas"]["DeploymentRouteTargetDto"][];
        };
        DeploymentRouteTargetDto: {
            /** @example chat-00002 */
            revision: string;
            weight: number;
        };
        DistributionDto: {
            avg: number | null;
            p50: number | null;
            p90: number | null;
            p95: number | null;
            p99: number | null;
            /** @description Independent values: of `itl_ms` a stream is one, however many tokens it had */
            samples: number;
        };
        EffectiveScalingDto: {
            /** @description Null: it never sleeps */
            idle_seconds: number | null;
            max_replicas: number;
            min_replicas: number;
            scale_down_after_seconds: number;
            /** @description Null: the number follows no load */
            target_in_flight: number | null;
        };
        EndpointSpecDto: {
            /**
             * @description An OpenAI-compatible server that already runs; this, `base_urls` or both
             * @example http://127.0.0.1:8000
             */
            base_url?: string;
            /**
             * @description Further servers that have the same model; each is an instance of its own. At most 32 with `base_url`
             * @example [
             *       "http://127.0.0.1:8001",
             *       "http://127.0.0.1:8002"
             *     ]
             */
            base_urls?: string[];
            /** @description A secret of the operator's configuration, sent as bearer token */
            credential_ref?: string;
            /** @default /health */
            health_path?: string;
            /**
             * @default openai
             * @enum {string}
             */
            protocol?: "openai" | (string & {});
        };
        EngineArgDto: {
            /** @description Another argument, whose value it may not be below */
            at_least?: string;
            /**
             * @description A list: the values that it takes
             * @example [
             *       "f16",
             *       "q8_0"
             *     ]
             */
            choices?: string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null;
            /**
             * @description Passed on where a revision sets nothing
             * @example 8192
             */
            default?: string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null;
            /** @description Of a number, inclusive */
            max?: number;
            /** @description Of a number, inclusive */
            min?: number;
            /**
             * @description Key of `runtime.args`
             * @example ctx_size
             */
            name: string;
            /** @description It may change what the engine answers */
            quality?: boolean;
            /**
             * @description What it is a choice between
             * @example throughput against ITL
             */
            reason?: string;
            /**
             * @description A list: values worth trying
             * @example [
             *       4096,
             *       8192
             *     ]
             */
            tune?: string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null;
            /**
             * @description `string` takes a number or true/false as well; `json` is the text of a JSON object or list
             * @enum {string}
             */
            type: "string" | "integer" | "number" | "boolean" | "choice" | "json" | (string & {});
        };
        ErrorBodyDto: {
            /** @description With binding_exists: the binding there is. */
            binding_id?: string;
            /** @enum {string} */
            category: "invalid_request" | "authentication" | "permission" | "not_found" | "conflict" | "precondition" | "limit" | "capacity" | "upstream" | "internal" | (string & {});
            /**
             * @description Stable code; branch on this.
             * @example validation_failed
             */
            code: string;
            /** @description Each field that was refused. */
            details?: components["schemas"]["FieldIssueDto"][];
            /** @description With cursor_expired: the first event that is still kept. */
            first_sequence?: number;
            /** @description With quota_exceeded: how much it allows. */
            limit?: number;
            /** @description With body_too_large and file_too_large: the limit in bytes. */
            max_bytes?: number;
            /** @description For people; may change at any time. */
            message: string;
            /** @description With conflicts: the operation that is in the way. */
            operation_id?: string;
            /** @description With quota_exceeded: which quota, by its name in the configuration. */
            quota?: string;
            /** @description What to do about it. */
            remediation?: string;
            /** @description The X-Request-Id of this answer. */
            request_id: string;
            /** @description With scope_insufficient: the scope that is needed. */
            required_scope?: string;
            /** @description Whether the same request can succeed later. */
            retryable: boolean;
            /** @description With revision_not_ready: the first revision that is not. */
            revision?: string;
            /** @description With revision_not_ready: all that are not. */
            revisions?: string[];
        };
        ErrorEnvelopeDto: {
            error: components["schemas"]["ErrorBodyDto"];
        };
        EventDto: {
            /** @example token:tok_1 */
            actor: string;
            data: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            datacontenttype: "application/json" | (string & {});
            id: string;
            operationid: string | null;
            revisionid: string | null;
            /** @description Position in the deployment, without gaps, in commit order */
            sequence: number;
            /** @example /api/v1/deployments */
            source: string;
            /** @enum {string} */
            specversion: "1.0" | (string & {});
            /** @example deployments/chat */
            subject: string;
            /** Format: date-time */
            time: string;
            /** @example route.updated */
            type: string;
        };
        EventPageDto: {
            data: components["schemas"]["EventDto"][];
            /** @description Send it as `cursor` for the next page; null on the last one */
            next_cursor: string | null;
        };
        EvidenceDto: {
            /**
             * @description One-sided
             * @default 0.95
             */
            confidence?: number;
            /** @default 604800 */
            max_age_seconds?: number;
            /**
             * @description The gateways' records are kept for three days: beyond that only evidence from elsewhere can be long enough
             * @default 1800
             */
            min_duration_seconds?: number;
            /** @default 50 */
            min_samples?: number;
        };
        ExperimentBudgetDto: {
            /**
             * @description Paths within a revision's spec that a plan may change, with what lies under them; a bare name is an engine argument. Absent: a plan may change anything, the autopilot proposes scaling.min_replicas only; empty: nothing
             * @example [
             *       "scaling.min_replicas",
             *       "runtime.args.max_num_seqs"
             *     ]
             */
            allowed_knobs?: string[];
            /** @description Slipway knows no prices: it goes to the approver, and an amount of 0 forbids proposals */
            max_cost?: components["schemas"]["MoneyDto"];
            /** @description Plans the autopilot may propose in a period */
            max_experiments?: number;
            max_gpu_hours?: number;
            /** @default 1 */
            max_parallel?: number;
            /**
             * @description The first share of the traffic a candidate may get
             * @default 5
             */
            max_traffic_percent?: number;
            /**
             * @description The last 1, 7 or 30 days
             * @default month
             * @enum {string}
             */
            period?: "day" | "week" | "month" | (string & {});
        };
        FieldIssueDto: {
            /**
             * @description Stable code of the broken rule.
             * @example max
             */
            code: string;
            /**
             * @description Dotted path of the field.
             * @example targets[0].weight
             */
            field: string;
            message: string;
        };
        FileDto: {
            /** @example 0644 */
            mode: string;
            /** Format: date-time */
            modified_at: string;
            /**
             * @description Relative POSIX path of at most 1024 bytes, without . and ..
             * @example data/input.json
             */
            path: string;
            /** @description Hex. */
            sha256: string;
            size_bytes: number;
            /**
             * @description Whether the external sandbox has it; none where there is none.
             * @enum {string}
             */
            sync: "none" | "pending" | "synced" | "failed" | (string & {});
            /** @description Why it failed. */
            sync_error: string | null;
            /** @description The operation that passes it on. */
            sync_operation_id: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        FileListDto: {
            data: components["schemas"]["FileDto"][];
            next_cursor: string | null;
        };
        FreezeWindowDto: {
            /** Format: date-time */
            end: string;
            /** Format: date-time */
            start: string;
        };
        InstanceDeviceDto: {
            index: number;
            name: string;
            uuid: string;
        };
        InstanceDto: {
            /** @description Accelerators that it has */
            devices: components["schemas"]["InstanceDeviceDto"][];
            /** @description What somebody else has changed of it at its target, for people; it goes on nevertheless */
            drift: string | null;
            /** @description Why its last start came to nothing, until one is ready */
            failure: components["schemas"]["InstanceFailureDto"] | null;
            /** @description Number of its start */
            generation: number;
            /** @example ins_1 */
            id: string;
            /** @description Requests that gateways have in flight to it, as of their last report */
            in_flight: number;
            /** @description The same for people */
            message: string | null;
            /** @description Number within the revision, from 0 */
            ordinal: number;
            /** @description Where within the target, such as a node */
            place: string | null;
            /** @description Of a start, where the target can tell */
            progress: components["schemas"]["InstanceProgressDto"] | null;
            /** @description Why it is in this state, from a closed list */
            reason: string | null;
            /** @description Crashes since it was last wanted anew */
            restarts: number;
            /** @example chat-00007 */
            revision: string;
            /** Format: date-time */
            started_at: string | null;
            /**
             * @description `exited`: it is over, and starts again if it is still wanted
             * @enum {string}
             */
            state: "pending" | "waiting_for_device" | "waiting_for_place" | "starting" | "ready" | "unhealthy" | "stopping" | "exited" | (string & {});
            /**
             * @description Execution target
             * @example local
             */
            target: string;
        };
        InstanceFailureDto: {
            /**
             * @description Why, from a closed list
             * @example gpu_memory
             */
            cause: string;
            exit_code: number | null;
            /** @example it ended with code 1 */
            message: string;
            /** @description What to do about it */
            remediation: string;
            /** @example SIGKILL */
            signal: string | null;
            /** @description Starts in a row that ended so */
            starts: number;
        };
        InstanceListDto: {
            data: components["schemas"]["InstanceDto"][];
            next_cursor: string | null;
        };
        InstanceProgressDto: {
            bytes: number | null;
            /** @enum {string} */
            phase: "downloading" | "loading" | (string & {});
            total_bytes: number | null;
        };
        LatencyDto: {
            /** @description Milliseconds */
            p50: number;
            /** @description Milliseconds */
            p95: number;
        };
        MeasuredDto: {
            /**
             * @description Samples
             * @default 0
             */
            n?: number;
            value?: number | null;
        };
        MetricsPointDto: {
            /**
             * Format: date-time
             * @description When it begins
             */
            at: string;
            /** @description Attempts, by how they ended */
            attempts: components["schemas"]["AttemptCountsDto"];
            e2e_latency_ms: components["schemas"]["DistributionDto"];
            error_rate: components["schemas"]["RateDto"];
            /** @description Ready instances that a gateway chose among, the most; null: not known */
            instances: number | null;
            itl_ms: components["schemas"]["DistributionDto"];
            output_tokens_per_s: components["schemas"]["DistributionDto"];
            /** @description Requests as their clients saw them, those that they left not counted */
            requests_per_s: number;
            /** @description How much of its time the records cover so far */
            seconds: number;
            /** @description Of `ok`, those that were streams */
            streamed: number;
            tokens_in: number;
            tokens_out: number;
            /** @description Of all requests together; of each by itself: `output_tokens_per_s` */
            tokens_out_per_s: number;
            ttft_ms: components["schemas"]["DistributionDto"];
            upstream_fault_rate: components["schemas"]["RateDto"];
        };
        ModelSpecDto: {
            /** @example gguf */
            format?: string;
            /**
             * @description The name the model server knows the model by
             * @example llama-3.1-8b
             */
            id: string;
            /** @example Q4_K_M */
            quantization?: string;
            revision?: string;
            /** @description Where the weights are, such as a path or hf://… */
            uri?: string;
        };
        MoneyDto: {
            amount: number;
            /**
             * @description ISO 4217
             * @example EUR
             */
            currency: string;
        };
        NewOwnerDto: {
            /**
             * @description Who answers for the token. All tokens of one owner count as one in approvals.
             * @example alice
             */
            id: string;
            /**
             * @description A service approves nothing.
             * @enum {string}
             */
            type: "person" | "service";
        };
        NewWorkspaceDto: {
            /** @description Bytes that all files together may have. The service sets the highest value, which is also the default. */
            bytes_limit?: number;
        };
        ObjectiveDto: {
            /** @enum {string} */
            direction: "minimize" | "maximize" | (string & {});
            /** @enum {string} */
            metric: "error_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "e2e_latency_ms" | "output_tokens_per_s" | (string & {});
        };
        OperationDto: {
            /** @description Tries of the current step; 0 = never picked up */
            attempt: number;
            /** @description What a person is waited for: resume lets it go on. Null: nobody is */
            awaiting: ("approval" | "pause" | (string & {})) | null;
            /** @description Why, in the words of who asked for the cancel */
            cancel_reason: string | null;
            cancel_requested: boolean;
            /** Format: date-time */
            completed_at: string | null;
            /** Format: date-time */
            created_at: string;
            current_step: string;
            /** @enum {string} */
            current_step_status: "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cancelled" | "undone" | (string & {});
            /**
             * @description Present only when it failed or was cancelled
             * @enum {string}
             */
            error_code?: "analysis_failed" | "analysis_inconclusive" | "analysis_not_comparable" | "attempts_exhausted" | "cancelled_by_user" | "capacity_exhausted" | "dependency_outage" | "health_regression" | "internal" | "metrics_unavailable" | "quota_exceeded" | "superseded" | "target_not_ready" | "validation_failed" | (string & {});
            /** @example op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            /** @description The Idempotency-Key of the request that made it */
            idempotency_key: string | null;
            /** @example rollout */
            kind: string;
            max_attempts: number;
            message: string;
            /** @description Percent; never falls until a retry */
            progress: number;
            reason: string | null;
            /** @description The X-Request-Id of that request, which log lines and the audit name too */
            request_id: string | null;
            requested_by: components["schemas"]["ActorDto"];
            resource_name: string;
            /** @example deployment */
            resource_type: string;
            result: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it goes on by itself: the end of a soak, the next look, or the next try. Null while it runs, and once it has ended
             */
            resume_at: string | null;
            retryable: boolean;
            /** @enum {string} */
            status: "pending" | "running" | "waiting" | "cancelling" | "succeeded" | "failed" | "cancelled" | (string & {});
            steps: components["schemas"]["OperationStepDto"][];
            /** @description The operation that ended this one in its favour */
            superseded_by: string | null;
            /** Format: date-time */
            updated_at: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        OperationEnvelopeDto: {
            /** @description false = an earlier operation was adopted by its Idempotency-Key */
            created: boolean;
            operation: components["schemas"]["OperationDto"];
            warnings?: components["schemas"]["WarningDto"][];
        };
        OperationPageDto: {
            data: components["schemas"]["OperationDto"][];
            next_cursor: string | null;
        };
        OperationStepDto: {
            /** Format: date-time */
            completed_at: string | null;
            /** @description What the step observed */
            evidence: {
                [key: string]: unknown;
            } | null;
            index: number;
            message: string;
            /** @description Stable name, such as `await_ready` or `soak:2` */
            name: string;
            /** Format: date-time */
            started_at: string | null;
            /** @enum {string} */
            status: "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cancelled" | "undone" | (string & {});
        };
        OperatorConfigurationDto: {
            /** @description Whether the file as it is now holds. False: it is faulty or gone, and what it said before goes on */
            current: boolean;
            /** @description SHA-256 of the file that holds in this api process, in hex; null where only what is built in holds */
            digest: string | null;
            /**
             * Format: date-time
             * @description When this process took it
             */
            loaded_at: string;
            /** @description What is wrong with the file as it is now, by key path; told to the operator tenant alone */
            problems: string[];
        };
        OwnerDto: {
            /**
             * @description `user:` and their `sub` for who signs in at the hosted provider
             * @example alice
             */
            id: string;
            /** @enum {string} */
            type: "person" | "service" | (string & {});
        };
        PassportAffinityDto: {
            /** Format: date-time */
            bound_at: string | null;
            /** @description What requests of the session send as `model` */
            deployment: string;
            /** @enum {string} */
            guarantee: "best_effort" | (string & {});
            /** @enum {string} */
            mode: "none" | "soft" | (string & {});
            /** @description Name of the revision it is bound to; null before the first request and for a model API */
            revision: string | null;
            /** @description Opaque; equal while the session stays where it is */
            target: string | null;
            ttl_seconds: number;
        };
        PassportAffinityRequestDto: {
            /**
             * @description The route's unless given; `soft` where there is no route.
             * @enum {string}
             */
            mode?: "none" | "soft";
            /** @description The route's unless given; 600 where there is no route. */
            ttl_seconds?: number;
        };
        PassportDto: {
            affinity: components["schemas"]["PassportAffinityDto"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** @example cp_6f1ed002ab5595859014ebf0951522d9 */
            id: string;
            /** Format: date-time */
            last_seen_at: string;
            session: components["schemas"]["PassportSessionDto"];
            /** @enum {string} */
            state: "active" | "expired" | "revoked" | (string & {});
            stats: components["schemas"]["PassportStatsDto"];
            /** @description As declared, or the token that was last seen with the session */
            subject: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        PassportSessionDto: {
            /** @description Keyed hash of the session key; the key itself is stored nowhere */
            key_hash: string;
            /**
             * @description Where the key came from
             * @enum {string}
             */
            source: "x-session-id" | "session_id" | "prompt_cache_key" | "user" | "declared" | (string & {});
        };
        PassportStatsDto: {
            hits: number;
            last_rebind_reason: ("target_unhealthy" | "revision_retired" | "weights_changed" | "ttl_expired" | "capacity" | (string & {})) | null;
            misses: number;
            rebinds: number;
            requests: number;
        };
        PatchOperationDto: {
            /** @enum {string} */
            op: "add" | "remove" | "replace" | (string & {});
            /** @description JSON Pointer into the spec */
            path: string;
        };
        PlanActorDto: {
            id: string;
            /** @description Who answers for it; null for a part of the product, absent where a plan is older than owners */
            owner?: components["schemas"]["OwnerDto"] | null;
            /**
             * @description `token`, `user`, or `system` for a part of the product
             * @example token
             */
            type: string;
        };
        PlanApprovalDto: {
            approvals: components["schemas"]["PlanDecisionDto"][];
            /** @description Distinct people (owners of tokens, or signed-in identities) who must approve, by the policy version the plan cites */
            approvals_required: number;
            /** @description Who ended it, where it was rejected, expired or superseded */
            ended: components["schemas"]["PlanDecisionDto"] | null;
            /** @enum {string} */
            state: "pending" | "approved" | "rejected" | "expired" | "superseded" | (string & {});
            /** @description Rises with every decision */
            version: number;
        };
        PlanChangeDto: {
            /** @description The value that stands there; refused where another does */
            from?: (string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null) | null;
            /**
             * @default replace
             * @enum {string}
             */
            op?: "add" | "remove" | "replace" | (string & {});
            /**
             * @description JSON Pointer into the spec of the base revision (a dotted path is taken too)
             * @example /scaling/min_replicas
             */
            path: string;
            rationale?: string | null;
            value?: (string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null) | null;
        };
        PlanDecisionDto: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["PlanActorDto"];
            comment: string | null;
            /** @description Content digest the decision is bound to */
            digest: string;
        };
        PlanDto: {
            approval: components["schemas"]["PlanApprovalDto"];
            /** @example chat-00002 */
            base_revision: string;
            base_spec_digest: string;
            changes: components["schemas"]["PlanChangeDto"][];
            /** @description SHA-256 of the canonical JSON (RFC 8785) of everything above */
            content_digest: string;
            /** Format: date-time */
            created_at: string;
            created_by: components["schemas"]["PlanActorDto"];
            /** @description Name of the deployment */
            deployment: string;
            /** @description Also the ETag header: digest and approval version, and whether time has passed over it */
            etag: string;
            evidence: components["schemas"]["PlanEvidenceDto"][];
            /** Format: date-time */
            expires_at: string;
            /** @example plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            /** @description Version of the policy it keeps to; null where there was none */
            policy_version: number | null;
            predicted_impact: {
                [key: string]: unknown;
            } | null;
            risk: components["schemas"]["PlanRiskDto"];
            /** @description Ready to be sent to POST /deployments/{name}/rollouts */
            rollout: {
                [key: string]: unknown;
            };
            /** @description The base is no longer the active revision: it can be neither approved nor executed */
            stale: boolean;
            summary: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        PlanEvidenceDto: {
            baseline?: components["schemas"]["MeasuredDto"] | null;
            candidate?: components["schemas"]["MeasuredDto"] | null;
            /** Format: date-time */
            collected_at?: string | null;
            delta_percent?: number | null;
            /** @description Of the raw data */
            digest?: string | null;
            /** @enum {string} */
            kind: "benchmark" | "telemetry" | "simulation" | "canary" | (string & {});
            /** @example ttft_ms */
            metric: string;
            /** @example p95 */
            stat?: string | null;
            /** @example guidellm 0.3 */
            tool?: string | null;
        };
        PlanPageDto: {
            data: components["schemas"]["PlanDto"][];
            next_cursor: string | null;
        };
        PlanRiskDto: {
            /**
             * @default low
             * @enum {string}
             */
            level?: "low" | "medium" | "high" | (string & {});
            /** @default [] */
            reasons?: string[];
        };
        PolicyDto: {
            /**
             * @description Name of the deployment
             * @example chat
             */
            deployment: string;
            /** @description Also the ETag header */
            etag: string;
            /**
             * @description How much must have been seen before anything is concluded
             * @default {
             *       "confidence": 0.95,
             *       "max_age_seconds": 604800,
             *       "min_duration_seconds": 1800,
             *       "min_samples": 50
             *     }
             */
            evidence?: components["schemas"]["EvidenceDto"];
            /**
             * @description How much may be tried
             * @default {
             *       "max_parallel": 1,
             *       "max_traffic_percent": 5,
             *       "period": "month"
             *     }
             */
            experiment_budget?: components["schemas"]["ExperimentBudgetDto"];
            /**
             * @description `observe` only tells what it sees in events; `recommend` also proposes plans. Nothing ever acts by itself
             * @default recommend
             * @enum {string}
             */
            mode?: "off" | "observe" | "recommend" | (string & {});
            /** @description What to improve while every SLO is met */
            objective?: components["schemas"]["ObjectiveDto"];
            /**
             * @description How a plan becomes a rollout
             * @default {
             *       "approvals_required": 1,
             *       "cooldown_seconds": 86400,
             *       "max_step_percent": 25,
             *       "plan_ttl_seconds": 604800,
             *       "prevent_self_approval": true,
             *       "require_hosted_identity": false
             *     }
             */
            promotion?: components["schemas"]["PromotionDto"];
            /**
             * @description What may never be put at risk
             * @default {
             *       "freeze_windows": []
             *     }
             */
            reliability?: components["schemas"]["ReliabilityDto"];
            /**
             * @description What must hold; each metric and stat once
             * @default []
             */
            slos?: components["schemas"]["SloDto"][];
            /** Format: date-time */
            updated_at: string;
            updated_by: components["schemas"]["ActorDto"];
            /** @description Rises by one at every change; every version is kept, plans cite one */
            version: number;
            warnings?: components["schemas"]["WarningDto"][];
            /** @description What the deployment is used for */
            workload?: components["schemas"]["WorkloadDto"];
        };
        PricingDto: {
            /**
             * @description ISO 4217
             * @example USD
             */
            currency: string;
            /** @description For a million input tokens */
            input_per_mtok: number;
            /** @description For a million output tokens */
            output_per_mtok: number;
        };
        ProbesSpecDto: {
            failure_threshold?: number;
            interval_seconds?: number;
            path?: string;
            timeout_seconds?: number;
        };
        ProductDto: {
            context_length: number | null;
            /** Format: date-time */
            created_at: string;
            description: string | null;
            display_name: string;
            /** @example prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            max_output_tokens: number | null;
            modalities: string[];
            pricing: components["schemas"]["PricingDto"] | null;
            slug: string;
            /** @enum {string} */
            state: "draft" | "active" | "deprecated" | "retired" | (string & {});
            supported_parameters: string[];
            /** Format: date-time */
            updated_at: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        ProductPageDto: {
            data: components["schemas"]["ProductDto"][];
            next_cursor: string | null;
        };
        PromotionDto: {
            /**
             * @description How many distinct people must approve a plan
             * @default 1
             */
            approvals_required?: number;
            /**
             * @description Between two proposals of the autopilot
             * @default 86400
             */
            cooldown_seconds?: number;
            /**
             * @description Percentage points by which a step of a plan's canary may raise the traffic
             * @default 25
             */
            max_step_percent?: number;
            /**
             * @description How long a plan may be approved and executed
             * @default 604800
             */
            plan_ttl_seconds?: number;
            /**
             * @description The creator of a plan cannot approve it, neither with another token nor with one that came from theirs
             * @default true
             */
            prevent_self_approval?: boolean;
            /**
             * @description Only identities signed in at the hosted provider approve, and none whose token led to the one that made the plan
             * @default false
             */
            require_hosted_identity?: boolean;
        };
        ProtectionDto: {
            /**
             * @description Whether DELETE answers 409 `deployment_protected`
             * @default false
             */
            deletion?: boolean;
            /**
             * @description `approved_plan`: a rollout without the `plan_id` of an approved plan answers 409 `plan_required`
             * @default any
             * @enum {string}
             */
            rollouts?: "any" | "approved_plan" | (string & {});
        };
        ProtectionPatchDto: {
            /** @description Whether DELETE answers 409 `deployment_protected` */
            deletion?: boolean | null;
            /**
             * @description `approved_plan`: a rollout without the `plan_id` of an approved plan answers 409 `plan_required`
             * @enum {string|null}
             */
            rollouts?: "any" | "approved_plan" | null;
        };
        PublicationBindingDto: {
            binding_id: string;
            /**
             * @description Lower is preferred; a higher one serves while no binding below it can.
             * @default 0
             */
            priority?: number;
            /**
             * @description Share among the bindings of the same priority; 0 = dark.
             * @default 1
             */
            weight?: number;
        };
        PublicationDto: {
            audience: components["schemas"]["AudienceDto"];
            bindings: components["schemas"]["PublicationBindingDto"][];
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was superseded or withdrawn
             */
            ended_at: string | null;
            /** @example pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            notes: string | null;
            product_id: string;
            /** @example acme/chat */
            slug: string;
            /** @enum {string} */
            state: "published" | "superseded" | "withdrawn" | (string & {});
            version: number;
            warnings?: components["schemas"]["WarningDto"][];
        };
        PublicationPageDto: {
            data: components["schemas"]["PublicationDto"][];
            next_cursor: string | null;
        };
        PutFileDto: {
            /** @description The file, up to 8 MiB. */
            content: string;
            /**
             * @description How content is written.
             * @default utf-8
             * @enum {string}
             */
            encoding?: "utf-8" | "base64";
            /**
             * @description Permission bits, octal.
             * @default 0644
             */
            mode?: string;
            /**
             * @description false: refuse where there is a file already.
             * @default true
             */
            overwrite?: boolean;
            /**
             * @description Relative POSIX path of at most 1024 bytes, without . and ..
             * @example data/input.json
             */
            path: string;
            /** @description SHA-256 of the file in hex; another one is refused. */
            sha256?: string;
        };
        QualificationCheckDto: {
            duration_ms: number | null;
            /** @description In words; quotes nothing that the target said */
            message: string;
            /** @example chat_completion */
            name: string;
            passed: boolean;
            /**
             * @description `not_applicable`: it can tell nothing about this engine, and `message` says why; it counts neither way
             * @enum {string}
             */
            result: "passed" | "failed" | "not_applicable" | (string & {});
        };
        QualificationDto: {
            /** Format: date-time */
            checked_at: string | null;
            checks: components["schemas"]["QualificationCheckDto"][];
            /**
             * Format: date-time
             * @description Since when an adopted server that has another model now is not called any more; else null
             */
            drifted_since: string | null;
        };
        RateDto: {
            /** @description A share; null without samples */
            rate: number | null;
            samples: number;
        };
        ReferenceDto: {
            base_url: string;
            /** Format: date-time */
            created_at: string;
            /** @description Whether the operator allows to send files to base_url; where not, each file ends as failed. */
            egress_allowed: boolean;
            external_id: string;
            id: string;
            /** @enum {string} */
            provider: "e2b" | "daytona" | "custom" | (string & {});
            /** Format: date-time */
            revoked_at: string | null;
            /**
             * @description Type and id of the actor.
             * @example token:tok_boot
             */
            revoked_by: string | null;
            /** @description The sandbox that was made with the reference. */
            sandbox_id: string;
            /** @enum {string} */
            state: "active" | "revoked" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        ReferenceListDto: {
            data: components["schemas"]["ReferenceDto"][];
            next_cursor: string | null;
        };
        RehearsalChangeDto: {
            /** @enum {string} */
            op: "add" | "remove" | "replace" | "move" | "copy" | "test" | (string & {});
            path: string;
            value?: string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null;
        };
        RehearsalDto: {
            /** @description RFC 6902: what would change */
            diff: components["schemas"]["RehearsalChangeDto"][];
            /** @description The steps of the operation it would start; empty where it starts none */
            steps: string[];
            valid: boolean;
            warnings?: components["schemas"]["WarningDto"][];
            /** @description What the request would do */
            would: string;
        };
        RejectPlanDto: {
            comment?: string;
            /** @description 409 unless it is the content_digest of the plan */
            plan_digest?: string;
        };
        ReliabilityDto: {
            /**
             * @description The autopilot proposes nothing within one
             * @default []
             */
            freeze_windows?: components["schemas"]["FreezeWindowDto"][];
            /** @description A share of 0..1 */
            max_error_rate?: number;
            min_availability_percent?: number;
        };
        ReplicasDto: {
            /** @description Instances that the revisions with traffic should have; 0 while they sleep */
            desired: number;
            /** @description Of them, those that answer */
            ready: number;
        };
        ResourcesSpecDto: {
            /** @example nvidia-l4 */
            accelerator?: string;
            count?: number;
            memory_mb?: number;
        };
        RevisionDiffDto: {
            from: string;
            /** @description RFC 6902: applied to the first spec it makes the second */
            patch: components["schemas"]["PatchOperationDto"][];
            to: string;
        };
        RevisionDto: {
            change_ref: string | null;
            /** Format: date-time */
            created_at: string;
            created_by: components["schemas"]["ActorDto"];
            /** @description Name of the deployment */
            deployment: string;
            id: string;
            /** @description Why it is in this state, where there is something to say */
            message: string;
            /** @example chat-00007 */
            name: string;
            number: number;
            /** Format: date-time */
            ready_at: string | null;
            source: components["schemas"]["RevisionSourceDto"];
            spec: components["schemas"]["RevisionSpecDto"];
            /** @description SHA-256 of the canonical spec */
            spec_digest: string;
            /** @enum {string} */
            state: "pending" | "provisioning" | "ready" | "active" | "standby" | "draining" | "retired" | "failed" | (string & {});
        };
        RevisionListDto: {
            data: components["schemas"]["RevisionDto"][];
            next_cursor: string | null;
        };
        RevisionMetricsDto: {
            /** @description Requests that wait now, because it sleeps */
            held: number;
            /** @description Requests in flight now */
            in_flight: number;
            /** @description Oldest first; a step in which no request ended is absent */
            points: components["schemas"]["MetricsPointDto"][];
            /** @example chat-00007 */
            revision: string;
            /** @description The whole time: percentiles of steps cannot be added up */
            total: components["schemas"]["MetricsPointDto"];
        };
        RevisionSourceDto: {
            base_revision: string | null;
            /** @enum {string} */
            kind: "rollout" | "plan" | "import" | (string & {});
            operation_id: string | null;
            plan_id: string | null;
        };
        RevisionSpecDto: {
            /** @description For targets of kind `endpoint` only */
            endpoint?: components["schemas"]["EndpointSpecDto"];
            model: components["schemas"]["ModelSpecDto"];
            probes?: components["schemas"]["ProbesSpecDto"];
            resources?: components["schemas"]["ResourcesSpecDto"];
            runtime: components["schemas"]["RuntimeSpecDto"];
            scaling?: components["schemas"]["ScalingSpecDto"];
        };
        RevokedReferenceDto: {
            /** @description Always false: revoking sends nothing to the external sandbox. */
            external_sandbox_changed: boolean;
            id: string;
            /**
             * Format: date-time
             * @description Of the first revocation.
             */
            revoked_at: string;
            /** @enum {string} */
            state: "revoked" | (string & {});
        };
        RollbackDto: {
            /**
             * @description What becomes of a rollout that is running
             * @default supersede
             * @enum {string}
             */
            on_active_operation?: "supersede" | "fail";
            reason?: string;
            /** @description Id, number or name; where absent the last good revision that was fully active before. Out of a rollout: the one that was active when it began or, if that has no ready instance, the last good one before. `result.because` says which */
            to_revision?: string;
        };
        RolloutDto: {
            /** @description The deployment's default_analysis where absent, else none; the operation's `result.gate` says which */
            analysis?: components["schemas"]["AnalysisDto"];
            /** @description What spec_patch applies to: id, number or name; the active revision where absent */
            base_revision?: string;
            /** @example git:4f2a1c9 */
            change_ref?: string;
            /** @description 412 unless this revision is the active one */
            expected_active_revision?: string;
            /** @description How long the previous revision (or an unrouted candidate) stays warm; 3600 where absent. A recreate keeps nothing: it takes 0 only */
            keep_previous_seconds?: number;
            /** @description Executes an approved plan; what this body leaves out comes from the plan, what it states must be what was approved */
            plan_id?: string;
            /** @description How long the instances may take to be ready. 600 where absent; longer where the template of the engine gives a start longer */
            progress_deadline_seconds?: number;
            reason?: string;
            /** @description The whole spec; or spec_patch */
            spec?: components["schemas"]["RevisionSpecDto"];
            /**
             * @description RFC 7386 merge patch on base_revision; or spec
             * @example {
             *       "runtime": {
             *         "args": {
             *           "ttft_ms": 10
             *         }
             *       }
             *     }
             */
            spec_patch?: {
                [key: string]: unknown;
            };
            /** @description The deployment's default_strategy where absent, else candidate */
            strategy?: components["schemas"]["StrategyDto"];
        };
        RolloutRehearsalDto: {
            capacity: components["schemas"]["CapacityDto"];
            /** @description RFC 6902: what would change */
            diff: components["schemas"]["RehearsalChangeDto"][];
            /** @description The steps of the operation it would start; empty where it starts none */
            steps: string[];
            /**
             * @description Of a rollout: what `auto` comes to now
             * @enum {string}
             */
            strategy?: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto" | (string & {});
            valid: boolean;
            warnings?: components["schemas"]["WarningDto"][];
            /** @description What the request would do */
            would: string;
        };
        RouteAffinityDto: {
            /**
             * @description `soft`: a session stays on its revision and, where it can, on its instance
             * @default soft
             * @enum {string}
             */
            mode?: "none" | "soft" | (string & {});
            /** @default 600 */
            ttl_seconds?: number;
        };
        RouteDto: {
            affinity: components["schemas"]["RouteAffinityDto"];
            /**
             * @description Name of the deployment
             * @example chat
             */
            deployment: string;
            /** @description Also the ETag header */
            etag: string;
            /** @description Rises by one at every change */
            generation: number;
            /** @description While an operation keeps new requests waiting, because one revision makes room for another; else null */
            hold: components["schemas"]["RouteHoldDto"] | null;
            reason: string | null;
            targets: components["schemas"]["RouteTargetDto"][];
            /** Format: date-time */
            updated_at: string;
            updated_by: components["schemas"]["ActorDto"];
            warnings?: components["schemas"]["WarningDto"][];
        };
        RouteHoldDto: {
            /** @description How long it is expected to last; null where nothing was measured */
            estimated_seconds: number | null;
            /** @description The longest that one request waits; then it answers 503 */
            max_seconds: number;
            /** Format: date-time */
            since: string;
        };
        RouteTargetDto: {
            /**
             * @description Id, number or name of a revision of this deployment; answers show its name
             * @example chat-00002
             */
            revision: string;
            /** @description Percent of the requests; 0 = dark */
            weight: number;
        };
        RuntimeSpecDto: {
            /**
             * @description Arguments the engine declares; text, number or true/false
             * @example {
             *       "ttft_ms": 20
             *     }
             */
            args?: {
                [key: string]: unknown;
            };
            /**
             * @description One of the target's engines
             * @example sim
             */
            engine?: string;
            /** @description Environment the engine allows; a text or {"secret_ref": "name"} */
            env?: {
                [key: string]: unknown;
            };
            /**
             * @description An execution target of the operator's configuration (GET /targets)
             * @example local
             */
            target: string;
        };
        SandboxDto: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string | null;
            id: string;
            labels: {
                [key: string]: string;
            };
            /** @enum {string} */
            provider: "local" | "e2b" | "daytona" | "custom" | (string & {});
            reference_id: string | null;
            /**
             * @description As last observed. An external sandbox is observed only when a file is passed on to it.
             * @enum {string}
             */
            state: "running" | "paused" | "stopped" | "archived" | "error" | "unknown" | (string & {});
            /**
             * Format: date-time
             * @description When it was; null = never.
             */
            state_observed_at: string | null;
            warnings?: components["schemas"]["WarningDto"][];
            workspace: components["schemas"]["WorkspaceDto"];
        };
        SandboxListDto: {
            data: components["schemas"]["SandboxDto"][];
            next_cursor: string | null;
        };
        ScalingOverrideDto: {
            /** @description Without requests, until the last instance goes; only with `min_replicas: 0`, and 600 where nothing is said */
            idle_seconds?: number;
            /** @description Instances at most, where their number follows the load */
            max_replicas?: number;
            /** @description Instances at least; 0: it sleeps when nobody asks for it */
            min_replicas?: number;
            /** @description How long the load must be low before one instance goes; 300 where nothing is said */
            scale_down_after_seconds?: number;
            /** @description Requests in flight that one instance is meant to have. Without it the number follows no load */
            target_in_flight?: number;
        };
        ScalingPatchDto: {
            /** @description Without requests, until the last instance goes; only with `min_replicas: 0`, and 600 where nothing is said */
            idle_seconds?: number | null;
            /** @description Instances at most, where their number follows the load */
            max_replicas?: number | null;
            /** @description Instances at least; 0: it sleeps when nobody asks for it */
            min_replicas?: number | null;
            /** @description How long the load must be low before one instance goes; 300 where nothing is said */
            scale_down_after_seconds?: number | null;
            /** @description Requests in flight that one instance is meant to have. Without it the number follows no load */
            target_in_flight?: number | null;
        };
        ScalingSpecDto: {
            /** @description Without requests, until the last instance goes; only with `min_replicas: 0`, and 600 where nothing is said */
            idle_seconds?: number;
            /** @description Instances at most, where their number follows the load */
            max_replicas?: number;
            /**
             * @description Instances at least; 0: it sleeps when nobody asks for it
             * @default 1
             */
            min_replicas?: number;
            /** @description How long the load must be low before one instance goes; 300 where nothing is said */
            scale_down_after_seconds?: number;
            /** @description Requests in flight that one instance is meant to have. Without it the number follows no load */
            target_in_flight?: number;
        };
        SetConsoleAccessDto: {
            /** @description True grants, false revokes. */
            access: boolean;
            /**
             * @description Stays as it was where absent.
             * @example Ada Lovelace
             */
            display_name?: string;
            /**
             * @description The organization: `org_id` in the provider's tokens.
             * @example org_01
             */
            external_organization_id: string;
            /**
             * @description The user: `sub` in the provider's tokens.
             * @example user_01
             */
            external_user_id: string;
            /**
             * @description The configured hosted identity provider.
             * @enum {string}
             */
            provider: "oidc";
            /** @description At least one when granting; ignored when revoking. Each includes the lesser ones. Duplicates collapse. */
            scopes?: ("viewer" | "operator" | "admin")[];
        };
        SetPolicyDto: {
            /**
             * @description How much must have been seen before anything is concluded
             * @default {
             *       "confidence": 0.95,
             *       "max_age_seconds": 604800,
             *       "min_duration_seconds": 1800,
             *       "min_samples": 50
             *     }
             */
            evidence?: components["schemas"]["EvidenceDto"];
            /**
             * @description How much may be tried
             * @default {
             *       "max_parallel": 1,
             *       "max_traffic_percent": 5,
             *       "period": "month"
             *     }
             */
            experiment_budget?: components["schemas"]["ExperimentBudgetDto"];
            /**
             * @description `observe` only tells what it sees in events; `recommend` also proposes plans. Nothing ever acts by itself
             * @default recommend
             * @enum {string}
             */
            mode?: "off" | "observe" | "recommend";
            /** @description What to improve while every SLO is met */
            objective?: components["schemas"]["ObjectiveDto"];
            /**
             * @description How a plan becomes a rollout
             * @default {
             *       "approvals_required": 1,
             *       "cooldown_seconds": 86400,
             *       "max_step_percent": 25,
             *       "plan_ttl_seconds": 604800,
             *       "prevent_self_approval": true,
             *       "require_hosted_identity": false
             *     }
             */
            promotion?: components["schemas"]["PromotionDto"];
            /**
             * @description What may never be put at risk
             * @default {
             *       "freeze_windows": []
             *     }
             */
            reliability?: components["schemas"]["ReliabilityDto"];
            /**
             * @description What must hold; each metric and stat once
             * @default []
             */
            slos?: components["schemas"]["SloDto"][];
            /** @description What the deployment is used for */
            workload?: components["schemas"]["WorkloadDto"];
        };
        SetRouteDto: {
            /** @description With targets, the default where absent */
            affinity?: components["schemas"]["RouteAffinityDto"];
            reason?: string;
            /** @description Gives this revision all traffic, keeping the affinity; or targets */
            revision?: string;
            /** @description The whole route; weights sum to 100; or revision */
            targets?: components["schemas"]["RouteTargetDto"][];
        };
        SloDto: {
            /** @enum {string} */
            metric: "error_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "e2e_latency_ms" | "output_tokens_per_s" | (string & {});
            /**
             * @description The default of the metric where absent: p95 of values, rate of counts
             * @enum {string}
             */
            stat?: "avg" | "p50" | "p90" | "p95" | "p99" | "rate" | (string & {});
            /** @description In the unit of the metric, or a share of 0..1. A metric that is better when higher must not fall below it, the others not rise above */
            threshold: number;
        };
        StrategyDto: {
            /** @description recreate and auto: the longest that a request waits before it answers 503; 60 where absent */
            hold_seconds?: number;
            /** @description canary and auto: 5, 25, 50, 100 where absent; blue_green and recreate: one step of 100. A recreate out of `auto` soaks as long as the last one */
            steps?: components["schemas"]["StrategyStepDto"][];
            /**
             * @description `candidate` proves the revision ready and moves no traffic. `recreate` stops the previous revision before it starts the next, for targets without room for both: requests wait meanwhile. `auto`: `canary` where there is room, else `recreate`
             * @enum {string}
             */
            type: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto" | (string & {});
        };
        StrategyPatchDto: {
            hold_seconds?: number | null;
            steps?: components["schemas"]["StrategyStepDto"][] | null;
            /** @enum {string|null} */
            type?: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto" | null;
        };
        StrategyStepDto: {
            /**
             * @description Waits for POST /operations/{id}/resume after this step
             * @default false
             */
            requires_approval?: boolean;
            /** @default 180 */
            soak_seconds?: number;
            /** @description Share of the traffic the candidate gets at this step */
            traffic_percent: number;
        };
        SystemDatabaseDto: {
            /** @description How long the questions behind this answer took */
            latency_ms: number;
            /** Format: date-time */
            started_at: string;
            /**
             * @description Of Postgres
             * @example 18.4
             */
            version: string;
        };
        SystemDto: {
            database: components["schemas"]["SystemDatabaseDto"] | null;
            /** @description Oldest first */
            gateways: components["schemas"]["SystemGatewayDto"][] | null;
            /**
             * @description Of Node, which it runs on
             * @example 20.20.2
             */
            node_version: string;
            queue: components["schemas"]["SystemQueueDto"] | null;
            /** @description Days. The audit is kept for ever */
            retention_days: components["schemas"]["SystemRetentionDto"];
            /** @description Null but for the operator tenant, as what follows */
            schema: components["schemas"]["SystemSchemaDto"] | null;
            /**
             * Format: date-time
             * @description When it started
             */
            started_at: string;
            /**
             * @description Of the api that answers
             * @example 0.1.0
             */
            version: string;
            /** @description Oldest first */
            workers: components["schemas"]["SystemWorkerDto"][] | null;
        };
        SystemGatewayDto: {
            /** @description One run of the process */
            id: string;
            /** @description Whether it was heard of lately: one that is not counts for nothing */
            is_alive: boolean;
            /** @description Routes that it serves */
            routes: number;
            /** @description Routes whose present generation it does not serve yet */
            routes_behind: number;
            /**
             * Format: date-time
             * @description Its last heartbeat
             */
            seen_at: string;
            /** Format: date-time */
            started_at: string;
            /**
             * Format: date-time
             * @description Until then its request statistics are stored
             */
            statistics_until: string | null;
        };
        SystemOperationsDto: {
            /** @description That go on by themselves later */
            asleep: number;
            /** @description That a worker may take */
            due: number;
            /** @description How long the oldest of them has waited: more than seconds means that workers are missing */
            oldest_due_seconds: number | null;
            /** @description That a worker holds */
            running: number;
        };
        SystemOutboxDto: {
            /** @description How long the oldest of them has waited */
            oldest_seconds: number | null;
            /** @description Wake-ups that are due and that the queue has not got yet */
            waiting: number;
        };
        SystemQueueDto: {
            /** @enum {string} */
            backend: "postgres" | "redis" | (string & {});
            operations: components["schemas"]["SystemOperationsDto"];
            outbox: components["schemas"]["SystemOutboxDto"];
        };
        SystemRetentionDto: {
            /** @description Context passports after they have expired */
            context_passports: number;
            /** @description Events at least: longer, where a kept operation, a subscription or a webhook still needs them */
            events: number;
            /** @description Idempotency-Keys of mutations without an operation */
            idempotency_keys: number;
            /** @description Ended operations, and their Idempotency-Keys with them */
            operations: number;
            /** @description What metrics and gates are made of */
            request_statistics: number;
            /** @description Usage by token */
            request_usage: number;
        };
        SystemSchemaDto: {
            /** @description Migrations that the database has; a process that knows one more refuses to start */
            applied: number;
            /** @description The newest of them */
            newest: string;
        };
        SystemWorkerDto: {
            /** @description One run of the process */
            id: string;
            /** @description Whether it was heard of lately; one that was not is forgotten after minutes */
            is_alive: boolean;
            /**
             * Format: date-time
             * @description Its last heartbeat; there is one every 5 seconds
             */
            seen_at: string;
            /** Format: date-time */
            started_at: string;
            /** @example 0.1.0 */
            version: string;
        };
        TargetCapacityDto: {
            /** @description Instances that are wanted on it now, over all tenants */
            in_use: number;
            /** @description Instances it runs at most; null = no limit */
            max_instances: number | null;
        };
        TargetConditionDto: {
            /** @description In words */
            message: string;
            /**
             * @description What is wrong with the target; `degraded`: nothing can be started, stopped or seen there as it should, while what runs goes on
             * @enum {string}
             */
            type: "devices_unknown" | "degraded" | (string & {});
        };
        TargetDeviceDto: {
            /** @description MiB of it that programs hold which Slipway has not started */
            foreign_mb: number;
            /** @description Who has it; empty = it is free */
            holders: components["schemas"]["TargetDeviceHolderDto"][];
            /** @description By PCI bus; may change at a reboot */
            index: number;
            /** @description MiB; null where the host does not tell */
            memory_mb: number | null;
            /** @example NVIDIA L4 */
            name: string;
            /** @description Why nothing is started on it: its driver lost it, or the memory of its last holder has not come back */
            problem: string | null;
            /** @description MiB in use when it was looked at last */
            used_mb: number | null;
            /**
             * @description Stable over reboots
             * @example GPU-5c89852c-1d5c-4d26-a2f1-2a3f9a5d8f4e
             */
            uuid: string;
        };
        TargetDeviceHolderDto: {
            /** @description Whether it is over, and only its memory has not been seen to be back */
            ending: boolean;
            /** @description MiB that it takes beside others; null = all of the device */
            memory_mb: number | null;
            /**
             * @description Revision that it runs for; null for one of another tenant
             * @example chat-00003
             */
            revision: string | null;
        };
        TargetDto: {
            capacity: components["schemas"]["TargetCapacityDto"];
            /** @description Empty while nothing is wrong */
            conditions: components["schemas"]["TargetConditionDto"][];
            /** @description Accelerators of its host, as the worker saw them last */
            devices: components["schemas"]["TargetDeviceDto"][];
            /** @description Empty for targets that adopt what already runs */
            engines: components["schemas"]["TargetEngineDto"][];
            /**
             * @description `process` starts engines on its host, `kubernetes` in a cluster, `endpoint` adopts servers that already run
             * @example process
             */
            kind: string;
            /**
             * @description What `runtime.target` of a revision names
             * @example local
             */
            name: string;
            /** @description Whether the operator's configuration names it no more. It is listed while something is wanted on it; what runs goes on, nothing new starts */
            removed: boolean;
            /**
             * @description `ok` while it has no conditions
             * @enum {string}
             */
            status: "ok" | "degraded" | (string & {});
        };
        TargetEngineDto: {
            /**
             * @description What `runtime.args` may set
             * @example [
             *       "ttft_ms"
             *     ]
             */
            args: string[];
            /** @description The same arguments as they are declared */
            declared?: components["schemas"]["EngineArgDto"][];
            /** @description What `runtime.env` may set */
            env: string[];
            /**
             * @description What `runtime.engine` of a revision may name
             * @example sim
             */
            name: string;
            /**
             * @description The built-in template that it extends
             * @example llamacpp@1
             */
            template?: string;
        };
        TargetListDto: {
            /** @description For comparing replicas */
            configuration: components["schemas"]["OperatorConfigurationDto"];
            data: components["schemas"]["TargetDto"][];
            next_cursor: string | null;
        };
        TenantDto: {
            /** Format: date-time */
            created_at: string;
            /** @description The organizations (`org_id` in the hosted provider's tokens) whose users the tenant may let in. One that no tenant has is the operator tenant's; one that several have, each of them may map. */
            external_organization_ids: string[];
            id: string;
            name: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        TenantListDto: {
            data: components["schemas"]["TenantDto"][];
            next_cursor: string | null;
        };
        TokenCountsDto: {
            p50?: number;
            p95?: number;
        };
        TokenDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that made it.
             * @example token:tok_boot
             */
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /**
             * Format: date-time
             * @description At most a minute old while the token is in use.
             */
            last_used_at: string | null;
            /** @description Owners of the tokens by which it was minted, the first one first. */
            minters: components["schemas"]["OwnerDto"][];
            name: string;
            owner: components["schemas"]["OwnerDto"];
            /** Format: date-time */
            revoked_at: string | null;
            revoked_by: string | null;
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            /** @enum {string} */
            state: "active" | "revoked" | "expired" | (string & {});
        };
        TokenListDto: {
            data: components["schemas"]["TokenDto"][];
            next_cursor: string | null;
        };
        UpdateDeploymentDto: {
            /** @description Gate of a rollout that names no `analysis`. Rollouts without a soak, such as a first revision, pass none. */
            default_analysis?: components["schemas"]["AnalysisPatchDto"] | null;
            /** @description Strategy of a rollout that names none */
            default_strategy?: components["schemas"]["StrategyPatchDto"] | null;
            description?: string | null;
            display_name?: string | null;
            /** @example production */
            environment?: string | null;
            /**
             * @description Merged key by key, null removes one; 64 in the end
             * @example {
             *       "team": "search",
             *       "trial": null
             *     }
             */
            labels?: {
                [key: string]: string | null;
            } | null;
            /** @description Cannot change: clients send it as model */
            name?: string | null;
            /** @description What the deployment is guarded against. To lower it takes the scope admin. A rollback is never refused. */
            protection?: components["schemas"]["ProtectionPatchDto"] | null;
            /** @description Revisions kept that no route, binding or rollback refers to */
            revision_history_limit?: number | null;
            /** @description Overrides the `scaling` of its revisions, field by field; what it leaves out, the revision says */
            scaling?: components["schemas"]["ScalingPatchDto"] | null;
        };
        UpdateTenantDto: {
            /**
             * @description The organizations (`org_id` in the hosted provider's tokens) whose users the tenant may let in. One that no tenant has is the operator tenant's; one that several have, each of them may map. The list takes the place of the one before; an organization that is left out lets nobody in from the next request on.
             * @example [
             *       "org_01"
             *     ]
             */
            external_organization_ids: string[];
        };
        WarningDto: {
            /**
             * @description `unknown_field`: the field was ignored; `no_route`: what was asked for takes no traffic yet.
             * @enum {string}
             */
            code: "unknown_field" | "no_route" | (string & {});
            /** @description Dotted path of the field that it is about. */
            field: string;
            /**
             * @description What to do about it, for people.
             * @example did you mean `strategy`?
             */
            message?: string;
        };
        WebhookDeliveryDto: {
            /** @description Attempts that have ended. */
            attempts: number;
            /** Format: date-time */
            completed_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Why the last attempt failed. */
            error: ("http_status" | "redirect" | "timeout" | "connection_failed" | "address_refused" | "event_expired" | (string & {})) | null;
            /** @description The event; also the `webhook-id` header of every attempt. */
            event_id: string;
            /** @example rollout.promoted */
            event_type: string;
            /** Format: date-time */
            last_attempt_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            /** @description HTTP status of the last attempt; null when no answer came. */
            response_status: number | null;
            /**
             * @description `cancelled`: the webhook was disabled before.
             * @enum {string}
             */
            status: "pending" | "succeeded" | "failed" | "cancelled" | (string & {});
        };
        WebhookDeliveryListDto: {
            data: components["schemas"]["WebhookDeliveryDto"][];
            next_cursor: string | null;
        };
        WebhookDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that made it.
             * @example token:tok_boot
             */
            created_by: string;
            deployments: string[];
            description: string | null;
            /** Format: date-time */
            disabled_at: string | null;
            /** @description `gone`: the receiver answered 410. */
            disabled_reason: ("gone" | (string & {})) | null;
            event_types: string[];
            id: string;
            /** @enum {string} */
            state: "active" | "disabled" | (string & {});
            url: string;
        };
        WebhookListDto: {
            data: components["schemas"]["WebhookDto"][];
            next_cursor: string | null;
        };
        WhoAmIDto: {
            actor: components["schemas"]["ActorDto"];
            /** @description Who answers for the credential; approvals count owners. */
            owner: components["schemas"]["OwnerDto"];
            /** @description All scopes the caller has, included ones too. */
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            tenant: components["schemas"]["WhoTenantDto"];
        };
        WhoTenantDto: {
            id: string;
            /** @description Whether this is the tenant of the operator. */
            is_operator: boolean;
            name: string;
        };
        WorkloadDto: {
            /** @description Requests at the same time */
            concurrency?: number;
            input_tokens?: components["schemas"]["TokenCountsDto"];
            output_tokens?: components["schemas"]["TokenCountsDto"];
            /** @enum {string} */
            profile?: "chat" | "rag" | "code" | "agent" | "batch" | "embedding" | (string & {});
            /** @description Requests per second */
            request_rate?: number;
        };
        WorkspaceDto: {
            bytes_limit: number;
            bytes_used: number;
            file_count: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listModelApiProducts: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductPageDto"];
                };
            };
        };
    };
    createModelApiProduct: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Acme Chat",
                 *       "slug": "acme/chat"
                 *     }
                 */
                "application/json": components["schemas"]["CreateProductDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductDto"];
                };
            };
        };
    };
    listModelApiPublications: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicationPageDto"];
                };
            };
        };
    };
    createModelApiPublication: {
        parameters: {
            query?: {
                /** @description Make every check, write nothing, and answer what would happen. */
                validate_only?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bindings": [
                 *         {
                 *           "binding_id": "bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5",
                 *           "priority": 1,
                 *           "weight": 100
                 *         }
                 *       ],
                 *       "product_id": "prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5"
                 *     }
                 */
                "application/json": components["schemas"]["CreatePublicationDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RehearsalDto"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicationDto"];
                };
            };
        };
    };
    withdrawModelApiPublication: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The publication, by id.
                 * @example pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicationDto"];
                };
            };
        };
    };
    listTargetBindings: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BindingPageDto"];
                };
            };
        };
    };
    createTargetBinding: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "product_id": "prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5",
                 *       "target": {
                 *         "deployment": "chat",
                 *         "revision": "chat-00001"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateBindingDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BindingDto"];
                };
            };
        };
    };
    getTargetBinding: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The target binding, by id.
                 * @example bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BindingDto"];
                };
            };
        };
    };
    qualifyTargetBinding: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The target binding, by id.
                 * @example bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Accepted; the work goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Only this action, such as `rollout.create`. */
                action?: string;
                /** @description Only what this actor did: type and id, such as `token:tok_boot`. */
                actor?: string;
                /** @description Only on this type, such as `deployment`. */
                resource_type?: string;
                /** @description Only on what has this name, such as `chat`. */
                resource_name?: string;
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPageDto"];
                };
            };
        };
    };
    listAutopilotPlans: {
        parameters: {
            query?: {
                /** @description Only plans of this deployment */
                deployment?: string;
                /** @description Only plans whose approval is in this state */
                state?: "pending" | "approved" | "rejected" | "expired" | "superseded";
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPageDto"];
                };
            };
        };
    };
    createAutopilotPlan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "changes": [
                 *         {
                 *           "from": 1,
                 *           "op": "replace",
                 *           "path": "/scaling/min_replicas",
                 *           "rationale": "Time to first token",
                 *           "value": 2
                 *         }
                 *       ],
                 *       "deployment": "chat",
                 *       "evidence": [
                 *         {
                 *           "baseline": {
                 *             "n": 500,
                 *             "value": 300
                 *           },
                 *           "candidate": {
                 *             "n": 500,
                 *             "value": 150
                 *           },
                 *           "kind": "telemetry",
                 *           "metric": "ttft_ms",
                 *           "stat": "p95",
                 *           "tool": "load test"
                 *         }
                 *       ],
                 *       "summary": "Two replicas"
                 *     }
                 */
                "application/json": components["schemas"]["CreatePlanDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanDto"];
                };
            };
        };
    };
    getAutopilotPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The plan, by id.
                 * @example plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanDto"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    approveAutopilotPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key adopts the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The plan, by id.
                 * @example plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "comment": "Looks right",
                 *       "plan_digest": "content_digest of the plan"
                 *     }
                 */
                "application/json": components["schemas"]["ApprovePlanDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanDto"];
                };
            };
        };
    };
    rejectAutopilotPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The plan, by id.
                 * @example plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "comment": "Not before the release"
                 *     }
                 */
                "application/json": components["schemas"]["RejectPlanDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanDto"];
                };
            };
        };
    };
    listConsoleAccess: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleAccessListDto"];
                };
            };
        };
    };
    setConsoleAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "access": true,
                 *       "display_name": "Ada",
                 *       "external_organization_id": "org1",
                 *       "external_user_id": "user1",
                 *       "provider": "oidc",
                 *       "scopes": [
                 *         "viewer"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["SetConsoleAccessDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleAccessDto"];
                };
            };
        };
    };
    createContextPassport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "deployment": "chat",
                 *       "session_id": "conversation-1"
                 *     }
                 */
                "application/json": components["schemas"]["CreatePassportDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassportDto"];
                };
            };
        };
    };
    getContextPassport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The passport, by id: `x-context-passport` of an inference answer.
                 * @example cp_6f1ed002ab5595859014ebf0951522d9
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassportDto"];
                };
            };
        };
    };
    revokeContextPassport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The passport, by id: `x-context-passport` of an inference answer.
                 * @example cp_6f1ed002ab5595859014ebf0951522d9
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassportDto"];
                };
            };
        };
    };
    listDeployments: {
        parameters: {
            query?: {
                /** @description Only those whose environment is this */
                environment?: string;
                /** @description `key=value` or `key`, such as `team=search`; several, separated by commas, must all hold */
                label?: string;
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentPageDto"];
                };
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createDeployment: {
        parameters: {
            query?: {
                /** @description Make every check, write nothing, and answer what would happen. */
                validate_only?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Chat",
                 *       "labels": {
                 *         "team": "search"
                 *       },
                 *       "name": "chat"
                 *     }
                 */
                "application/json": components["schemas"]["CreateDeploymentDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RehearsalDto"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentDto"];
                };
            };
        };
    };
    getDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentDto"];
                };
            };
        };
    };
    deleteDeployment: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag the resource must still have, as its answer gave it; else 412 `precondition_failed`. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted; the work goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"];
                };
            };
        };
    };
    updateDeployment: {
        parameters: {
            query?: {
                /** @description Make every check, write nothing, and answer what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description The ETag the resource must still have, as its answer gave it; else 412 `precondition_failed`. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Chat for search",
                 *       "labels": {
                 *         "team": "search"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateDeploymentDto"];
                /**
                 * @example {
                 *       "display_name": "Chat for search",
                 *       "labels": {
                 *         "team": "search"
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["UpdateDeploymentDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentDto"] | components["schemas"]["RehearsalDto"];
                };
            };
        };
    };
    getContinualOptimizationPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyDto"];
                };
            };
        };
    };
    setContinualOptimizationPolicy: {
        parameters: {
            query?: {
                /** @description Make every check, write nothing, and answer what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description The ETag the resource must still have, as its answer gave it; else 412 `precondition_failed`. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "mode": "recommend",
                 *       "slos": [
                 *         {
                 *           "metric": "ttft_ms",
                 *           "stat": "p95",
                 *           "threshold": 200
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["SetPolicyDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyDto"] | components["schemas"]["RehearsalDto"];
                };
            };
        };
    };
    listDeploymentEvents: {
        parameters: {
            query?: {
                /** @description Only events beyond this sequence, in the order asked for; a stream starts behind it */
                after?: number;
                /** @description Only events of this type */
                type?: string;
                /** @description A stream is always ascending */
                order?: "asc" | "desc";
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPageDto"];
                    /**
                     * @example id: 3
                     *     event: revision.ready
                     *     data: {"specversion":"1.0","type":"revision.ready","sequence":3}
                     *
                     *     : heartbeat
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listInstances: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceListDto"];
                };
            };
        };
    };
    getInstanceLogs: {
        parameters: {
            query?: {
                /** @description Last lines */
                tail?: number;
                /** @description Only what was written from then on */
                since?: string;
                /** @description Which of its two outputs */
                stream?: "stdout" | "stderr" | "both";
                /** @description The last start that is over, instead of the newest */
                previous?: boolean;
                /** @description Goes on with what is written from now on, as `text/event-stream` */
                follow?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
                /**
                 * @description One of the instances, by its id.
                 * @example first
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 3
                     *     event: revision.ready
                     *     data: {"specversion":"1.0","type":"revision.ready","sequence":3}
                     *
                     *     : heartbeat
                     */
                    "text/event-stream": string;
                    "text/plain": string;
                };
            };
        };
    };
    getDeploymentMetrics: {
        parameters: {
            query?: {
                /** @description 15 minutes before `to` unless given; at most 3 hours before it */
                from?: string;
                /** @description Now unless given */
                to?: string;
                /** @description Seconds; at most 360 steps. Unless given, as short as makes at most 120 */
                step?: number;
                /** @description Id, number or name of the only revision to tell of. Unless given, the newest ten that had requests */
                revision?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentMetricsDto"];
                };
            };
        };
    };
    listRevisions: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionListDto"];
                };
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    diffRevisions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
                /**
                 * @description The revision, by id, number or name.
                 * @example chat-00001
                 */
                a: string;
                /**
                 * @description The revision to compare with, by id, number or name.
                 * @example chat-00001
                 */
                b: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionDiffDto"];
                };
            };
        };
    };
    getRevision: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
                /**
                 * @description The revision, by id, number or name.
                 * @example chat-00001
                 */
                revision: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionDto"];
                };
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createRollback: {
        parameters: {
            query?: {
                /** @description Make every check, write nothing, and answer what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description A retry with the same key adopts the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "Worse answers"
                 *     }
                 */
                "application/json": components["schemas"]["RollbackDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"] | components["schemas"]["RolloutRehearsalDto"];
                };
            };
            /** @description Accepted; the work goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"];
                };
            };
        };
    };
    createRollout: {
        parameters: {
            query?: {
                /** @description Make every check, write nothing, and answer what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description A retry with the same key adopts the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "First revision",
                 *       "spec": {
                 *         "model": {
                 *           "id": "llama"
                 *         },
                 *         "runtime": {
                 *           "engine": "sim",
                 *           "target": "local"
                 *         }
                 *       },
                 *       "strategy": {
                 *         "type": "immediate"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RolloutDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"] | components["schemas"]["RolloutRehearsalDto"];
                };
            };
            /** @description Accepted; the work goes on after this answer. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"];
                };
            };
        };
    };
    getRoute: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RouteDto"];
                };
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    setRoute: {
        parameters: {
            query?: {
                /** @description Make every check, write nothing, and answer what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description The ETag the resource must still have, as its answer gave it; else 412 `precondition_failed`. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "All traffic to the first revision",
                 *       "revision": "chat-00001"
                 *     }
                 */
                "application/json": components["schemas"]["SetRouteDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RouteDto"] | components["schemas"]["RehearsalDto"];
                };
            };
        };
    };
    listModelApiCatalog: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogPageDto"];
                };
            };
        };
    };
    getModelApiCatalogEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The model API, by id, or by slug with `%2F` for the slash.
                 * @example prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogEntryDto"];
                };
            };
        };
    };
    listOperations: {
        parameters: {
            query?: {
                /** @description Only operations in this status */
                status?: "pending" | "running" | "waiting" | "cancelling" | "succeeded" | "failed" | "cancelled";
                /** @description Only this kind, such as `rollout` */
                kind?: string;
                /** @description Only on what has this name, such as `chat` */
                resource_name?: string;
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationPageDto"];
                };
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The operation, by id: `operation.id` of a 202.
                 * @example op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationDto"];
                };
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    cancelOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The operation, by id: `operation.id` of a 202.
                 * @example op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "The answers are worse."
                 *     }
                 */
                "application/json": components["schemas"]["CancelOperationDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationDto"];
                };
            };
        };
    };
    listOperationEvents: {
        parameters: {
            query?: {
                /** @description Only events beyond this sequence, in the order asked for; a stream starts behind it */
                after?: number;
                /** @description Only events of this type */
                type?: string;
                /** @description A stream is always ascending */
                order?: "asc" | "desc";
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description The ETag of an answer that the client has; 304 without a body as long as the answer is the same. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The operation, by id: `operation.id` of a 202.
                 * @example op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPageDto"];
                    /**
                     * @example id: 3
                     *     event: revision.ready
                     *     data: {"specversion":"1.0","type":"revision.ready","sequence":3}
                     *
                     *     : heartbeat
                     */
                    "text/event-stream": string;
                };
            };
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The answer is still the one with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    resumeOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The operation, by id: `operation.id` of a 202.
                 * @example op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationDto"];
                };
            };
        };
    };
    retryOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The operation, by id: `operation.id` of a 202.
                 * @example op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationDto"];
                };
            };
        };
    };
    listSandboxes: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxListDto"];
                };
            };
        };
    };
    createSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "labels": {
                 *         "purpose": "trial"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateSandboxDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxDto"];
                };
            };
        };
    };
    listSandboxReferences: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReferenceListDto"];
                };
            };
        };
    };
    createSandboxReference: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "base_url": "http://127.0.0.1:9000",
                 *       "credential": "its-access-token",
                 *       "external_id": "box-1",
                 *       "provider": "custom"
                 *     }
                 */
                "application/json": components["schemas"]["CreateReferenceDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReferenceDto"];
                };
            };
        };
    };
    revokeSandboxReference: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The reference to an external sandbox, by id.
                 * @example sbr_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokedReferenceDto"];
                };
            };
        };
    };
    getSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The sandbox, by id.
                 * @example sbx_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxDto"];
                };
            };
        };
    };
    listSandboxFiles: {
        parameters: {
            query?: {
                /** @description Download this file instead of listing all. */
                path?: string;
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The sandbox, by id.
                 * @example sbx_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /**
             * @description Done.
             *
             *     The list, or with `path` the file itself.
             */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileListDto"];
                    "application/octet-stream": string;
                };
            };
            /** @description Unchanged since the ETag in If-None-Match. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    putSandboxFile: {
        parameters: {
            query?: {
                /** @description With application/octet-stream: where the file goes. */
                path?: string;
                /** @description With application/octet-stream: permission bits, octal. */
                mode?: string;
                /** @description With application/octet-stream: SHA-256 of the file, hex. */
                sha256?: string;
                /** @description With application/octet-stream: whether a file may be replaced. */
                overwrite?: boolean;
            };
            header?: {
                /** @description A retry with the same key adopts the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The sandbox, by id.
                 * @example sbx_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "content": "hello",
                 *       "path": "notes/hello.txt"
                 *     }
                 */
                "application/json": components["schemas"]["PutFileDto"];
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileDto"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileDto"];
                };
            };
        };
    };
    getSystem: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemDto"];
                };
            };
        };
    };
    listTargets: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetListDto"];
                };
            };
        };
    };
    listTenants: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantListDto"];
                };
            };
        };
    };
    createTenant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "acme"
                 *     }
                 */
                "application/json": components["schemas"]["CreateTenantDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTenantDto"];
                };
            };
        };
    };
    updateTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The tenant, by id.
                 * @example ten_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "external_organization_ids": [
                 *         "org1"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateTenantDto"];
                /**
                 * @example {
                 *       "external_organization_ids": [
                 *         "org1"
                 *       ]
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["UpdateTenantDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantDto"];
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenListDto"];
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "ci",
                 *       "scopes": [
                 *         "operator"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateTokenDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTokenDto"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The token, by id; never its secret.
                 * @example tok_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenDto"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookListDto"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event_types": [
                 *         "rollout.*"
                 *       ],
                 *       "url": "https://hooks.example.com/slipway"
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhookDto"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedWebhookDto"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Rows of a page, 1 to 200. */
                limit?: number;
                /** @description `next_cursor` of the page before; absent for the first page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryListDto"];
                };
            };
        };
    };
    whoAmI: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhoAmIDto"];
                };
            };
        };
    };
}
