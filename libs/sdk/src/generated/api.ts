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
         * List model API products
         * @description Returns products, newest first, including drafts and products that are no longer served. Clients use the catalog instead, which shows the products that are published for them.
         */
        get: operations["listModelApiProducts"];
        put?: never;
        /**
         * Create a model API product
         * @description The product is a draft until a publication defines the bindings that serve it. The slug must begin with the name of the tenant; the operator tenant can use any slug.
         */
        post: operations["createModelApiProduct"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/model-api/products/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect a model API product
         * @description Returns the product, also if it is a draft. Send its `etag` as `If-Match` with a change.
         */
        get: operations["getModelApiProduct"];
        put?: never;
        post?: never;
        /**
         * Delete a model API product
         * @description Deletes the product and its ended publications, and frees the slug. A product that is published or has bindings is refused, and the response names them.
         */
        delete: operations["deleteModelApiProduct"];
        options?: never;
        head?: never;
        /**
         * Change a model API product
         * @description Applies a JSON merge patch (RFC 7386): fields in the patch change, and `null` removes a field or resets it to its default. The slug cannot change. The catalog shows the new values at once. Bindings keep their qualification: qualify them again after a change of `context_length`.
         */
        patch: operations["updateModelApiProduct"];
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
         * @description Returns every version of every product: published, superseded and withdrawn.
         */
        get: operations["listModelApiPublications"];
        put?: never;
        /**
         * Publish a model API product
         * @description Replaces the current publication of the product with a new version, in one step. All bindings must be qualified. Only the operator tenant can publish to other tenants.
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
         * @description The slug is no longer served. Withdrawing a publication again returns the same response.
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
         * @description Returns bindings with the results of their last qualification. Credentials are never shown.
         */
        get: operations["listTargetBindings"];
        put?: never;
        /**
         * Create a target binding
         * @description Binds a product to a revision or to the model of a supplier. A binding never changes. It serves requests after it is qualified and published.
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
         * @description Returns the binding with the results of its last qualification. The credential is never shown.
         */
        get: operations["getTargetBinding"];
        put?: never;
        post?: never;
        /**
         * Delete a target binding
         * @description Deletes the binding with its credential, and no longer keeps its revision. A binding of the current publication is refused, and the response names the publication. Ended publications still show its id.
         */
        delete: operations["deleteTargetBinding"];
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
         * Qualify a target binding
         * @description Starts an operation that calls the target. It lists the models and requests a completion, a streamed completion and a completion of an unknown model.
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
         * List audit entries, newest first
         * @description Returns who changed what. Each mutation writes one row in its own transaction. Identical audited reads are combined into at most one row an hour. Rows are sealed into a hash chain about a second later.
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
    "/api/v1/autopilot/calibration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare predictions with outcomes
         * @description Shows how close the predictions of executed plans were, for each kind of plan, and how wide the intervals of new plans are. Only plans of this tenant count. The newest 500 outcomes of each kind are read.
         */
        get: operations["getAutopilotCalibration"];
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
         * @description Returns plans with the state of their approval. Filter with `state` and `deployment`.
         */
        get: operations["listAutopilotPlans"];
        put?: never;
        /**
         * Create an advisory plan
         * @description For people and external optimizers. The plan must comply with the current policy, whose version it records. Its content never changes.
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
         * Inspect a plan
         * @description The content of a plan never changes; only `approval` and `stale` do. An approval must name the `content_digest`.
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
         * Approve a plan
         * @description Records the approval of one person and changes nothing else. To execute an approved plan, create a rollout with its `plan_id`. All tokens of one owner count as one person. Service tokens cannot approve.
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
         * Reject or withdraw a plan
         * @description A rejected plan can never be approved. The creator withdraws a plan with the same request. The request does not change what is served.
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
         * @description Returns granted and revoked identities with their scopes.
         */
        get: operations["listConsoleAccess"];
        /**
         * Grant or revoke console access
         * @description Maps a hosted identity to the tenant. Provider, organization and user identify the mapping, so repeating a request changes nothing. Users can get access if the operator assigned their organization to the tenant; unassigned organizations belong to the operator tenant. A revocation applies from the next request of the identity and also ends its open event streams. An identity that is mapped in several tenants must name one, by id or name, in the header `X-Slipway-Tenant`.
         */
        put: operations["setConsoleAccess"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/console/access/{id}": {
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
         * Delete a revoked mapping
         * @description Deletes a mapping whose access is revoked, so that it no longer counts in the quota `console_access`. The tenant then does not know the identity: its requests get 401 instead of 403, and it no longer has to name this tenant among others. An active mapping is refused.
         */
        delete: operations["deleteConsoleAccess"];
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
        /**
         * List context passports
         * @description Returns the sessions of the tenant, ordered by id, which is no order in time. Filter with `deployment` and `state`. The values are about a second old.
         */
        get: operations["listContextPassports"];
        put?: never;
        /**
         * Create a context passport
         * @description Declares a session before its first request. Gateways create the passports of other sessions by themselves. Declaring the same session again renews its passport and returns it.
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
         * Inspect a context passport
         * @description Returns the revision and the instance that the session is bound to, and how often its requests reached them. The affinity is best effort, and the values are about a second old. The session key itself is never stored.
         */
        get: operations["getContextPassport"];
        put?: never;
        post?: never;
        /**
         * Revoke a context passport
         * @description Gateways then route the session without affinity. Revoking a passport again returns the same response.
         */
        delete: operations["revokeContextPassport"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/context-passports/{id}/record": {
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
         * Delete an ended passport
         * @description Deletes the record of a passport that is revoked or expired, so that it no longer counts in the quota `context_passports`. The next request of the session makes a new passport, with affinity. An active passport is refused.
         */
        delete: operations["deleteContextPassport"];
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
         * List deployments
         * @description Returns deployments, newest first. Filter them by `state`, `environment` and `label`, or search with `q`.
         */
        get: operations["listDeployments"];
        put?: never;
        /**
         * Create a deployment
         * @description Creates a deployment without a model server. Create a rollout to start one. Clients send the name of the deployment to the gateway as `model`.
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
         * @description Returns the state with its conditions, the active, candidate and previous revisions, the route and the running operation. Send its `etag` as `If-Match` with a change.
         */
        get: operations["getDeployment"];
        put?: never;
        post?: never;
        /**
         * Delete a deployment
         * @description Starts a durable operation of kind `delete_deployment`. It removes the route, stops the instances and frees the name. Instances with requests in flight stop when these have ended, after at most `drain_seconds`. If `protection.rollouts` is `approved_plan`, it requires the scope admin, because it removes that protection. Returns 202 with the operation.
         */
        delete: operations["deleteDeployment"];
        options?: never;
        head?: never;
        /**
         * Change deployment settings
         * @description Applies a JSON merge patch (RFC 7386). Fields in the patch change, `null` removes a field or resets it to its default, and labels merge key by key. A running rollout keeps the settings that it started with. Lowering `protection` requires the scope admin.
         */
        patch: operations["updateDeployment"];
        trace?: never;
    };
    "/api/v1/deployments/{name}/autopilot/diagnosis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diagnose the SLOs
         * @description Shows for each SLO of the policy whether it is met, why it is missed, how the load changes it and how many replicas would be enough, from the records of the gateways at this moment. `decision` is what the last round of the autopilot did, or why it did nothing. Returns 404 `policy_not_found` without a policy.
         */
        get: operations["getAutopilotDiagnosis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
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
         * Inspect the optimization policy
         * @description Returns the current version, which new plans record and must comply with. Returns 404 `policy_not_found` if none was set.
         */
        get: operations["getContinualOptimizationPolicy"];
        /**
         * Set the optimization policy
         * @description Replaces the whole policy: workload, evidence, experiment budget, reliability and promotion rules. Omitted fields get their defaults. Every version is kept. A body equal to the current version does not create a new one.
         */
        put: operations["setContinualOptimizationPolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/continual-optimization/policy/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List policy versions
         * @description Returns the versions of the optimization policy, newest first, each as it was in force. The newest 100 are kept. The list is empty if no policy was set.
         */
        get: operations["listContinualOptimizationPolicyVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/continual-optimization/policy/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect a policy version
         * @description Returns one version of the optimization policy by its number, such as the one that a plan records as `policy_version`.
         */
        get: operations["getContinualOptimizationPolicyVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deployments/{name}/end-drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the drains
         * @description Stops the instances that wait for requests in flight (`draining`) now. These requests break. Repeating the request changes nothing. Returns the deployment.
         */
        post: operations["endDeploymentDrain"];
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
         * List or follow deployment events
         * @description Returns a page of events. With `Accept: text/event-stream` it streams the events after `Last-Event-ID` or `after`, by default from the oldest stored event.
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
         * List deployment instances
         * @description Returns the instances of all revisions, newest first, including stopped ones, or those of one `revision`. `is_serving` shows which ones get requests, `failure` why the last start failed, `progress` how far the current one is.
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
         * Read or follow instance output
         * @description Returns the output as lines of text, with anything that looks like a secret removed. The output of each start is kept. With `follow=true` it returns a stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit log records each reader.
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
         * Show request metrics
         * @description Returns the metrics of a deployment by revision and time step, from the gateway records and with the measures that gates use. The `evidence` of an analysis step of a rollout shows what it compared, its limits and its verdict.
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
    "/api/v1/deployments/{name}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart the instances
         * @description Restarts the instances of the revisions that serve, one after the other. With capacity for one more instance, that one starts first. Without it, each instance restarts while the others serve; a revision with one instance restarts while requests wait at the gateways for at most `hold_seconds`. The route stays, and requests in flight end first, within `drain_seconds` of the deployment. A restart that fails stops no further instance, and a retry continues with those that are left. Adopted servers are never restarted. Returns 202 with the operation.
         */
        post: operations["restartDeployment"];
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
         * List deployment revisions
         * @description Returns the immutable revisions of the deployment, newest first. `state` shows whether a revision serves, is kept warm, was retired or failed.
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
         * Compare two revision specs
         * @description Returns a JSON Patch (RFC 6902) that turns the spec of the first revision into that of the second.
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
         * Inspect a revision
         * @description Finds the revision by id, number or name. Returns its spec with defaults filled in, its source and its state. If it failed, `message` contains the reason.
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
         * Roll back a deployment
         * @description Starts an earlier revision, unchanged, and moves all traffic to it once it is ready. If the target has no capacity for both, the running revisions stop first and requests wait. Without `to_revision` it selects the last good revision. It supersedes a running rollout, and works even if the active revision is down. Returns 202 with the operation.
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
         * Create a rollout
         * @description Starts a candidate from `spec`, or from `spec_patch` on the active revision, alongside the serving revision. Waits until it is ready, and moves the traffic according to `strategy`: `candidate` (unless the deployment has another default) moves none, `immediate` moves all at once, `canary` and `blue_green` move it step by step with `analysis`. `recreate` stops the serving revision before it starts the candidate, for targets without capacity for both; each request waits for at most `hold_seconds`. A failed rollout restores the previous route. `GET /targets` lists targets and engines. Returns 202 with the operation.
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
         * Inspect the route
         * @description Returns 404 `route_not_found` until a rollout or a PUT has set a route. Send `etag` as `If-Match` with the next PUT.
         */
        get: operations["getRoute"];
        /**
         * Set the route
         * @description `{"revision": "..."}` sends all traffic to one revision; `targets` splits it. Gateways apply the route after it is stored.
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
         * @description Returns the model APIs that are published for the tenant of the caller, ordered by slug.
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
         * Inspect a model API
         * @description Finds a model API by id, or by slug with `%2F` for the slash. Never discloses its supplier.
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
         * List durable operations
         * @description Returns operations, newest first. Filter them by `status`, `waiting_for`, `kind` and `resource_name`.
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
         * Inspect a durable operation
         * @description Returns its progress (`progress`, `current_step`, `steps`), its outcome (`status`, `result`) and, if it failed, the reason (`error_code`, `message`). Poll until `status` is `succeeded`, `failed` or `cancelled`, or follow its events.
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
         * @description The operation undoes the steps that it has started and ends as `cancelled`. Repeating the request changes nothing.
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
         * List or follow operation events
         * @description Returns a page of events. With `Accept: text/event-stream` it streams the events after `Last-Event-ID` or `after`. The stream ends after the last event of an operation that has ended. A client that already has this event gets 204.
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
    "/api/v1/operations/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a rollout
         * @description The shares of the traffic stay as they are, and the time of a soak stops. A gate still stops the rollout if it finds a breach. Repeating the request changes nothing.
         */
        post: operations["pauseOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}/promote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Promote a rollout by hand
         * @description Ends the running step of a rollout as passed by a person (`next`), or passes all steps and moves all traffic (`full`). It also approves, decides, and ends a pause. The steps of a plan and of a protected deployment cannot be passed.
         */
        post: operations["promoteOperation"];
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
         * Resume a waiting operation
         * @description Ends a pause. If the operation is not paused but waits for a person, it approves or decides, as promote does.
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
         * @description The operation continues with its first step that has not succeeded.
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
         * @description Returns sandboxes with the usage of their workspaces.
         */
        get: operations["listSandboxes"];
        put?: never;
        /**
         * Create a sandbox
         * @description Creates a durable workspace for files; Slipway runs nothing in it. With `reference_id`, its files are sent to the external sandbox.
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
         * List sandbox references, newest first
         * @description Returns active and revoked references, never with their credential.
         */
        get: operations["listSandboxReferences"];
        put?: never;
        /**
         * Register an external sandbox
         * @description Also creates a sandbox whose files are sent to the external one. The registration itself sends nothing.
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
         * Revoke a sandbox reference
         * @description Erases the credential and sends nothing, so the external sandbox does not change. Revoking a reference again returns the same response.
         */
        delete: operations["revokeSandboxReference"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sandboxes/references/{id}/record": {
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
         * Delete a revoked reference
         * @description Deletes what is left of a revoked reference, so that it no longer counts in the quota `sandbox_references`. Sends nothing. A reference that is active, or that sandboxes still have, is refused.
         */
        delete: operations["deleteSandboxReference"];
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
         * Inspect a sandbox
         * @description Returns the provider, state and workspace of a sandbox, never a credential.
         */
        get: operations["getSandbox"];
        put?: never;
        post?: never;
        /**
         * Delete a sandbox
         * @description Deletes the sandbox and its files. Sends nothing to an external sandbox, and keeps the reference to it: revoke that separately. Files that were not sent yet are not sent any more.
         */
        delete: operations["deleteSandbox"];
        options?: never;
        head?: never;
        /**
         * Change a sandbox
         * @description Applies a JSON merge patch (RFC 7386) to labels, expiry and the limit of the workspace: fields in the patch change, and `null` removes a field or resets it to its default. Provider and reference cannot change.
         */
        patch: operations["updateSandbox"];
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
         * List or download sandbox files
         * @description Without `path`, returns the files ordered by path. With `path`, returns the content of that file, or 304 if `If-None-Match` matches.
         */
        get: operations["listSandboxFiles"];
        /**
         * Upload a file
         * @description Accepts a JSON object with the content of the file, up to 8 MiB, or the raw bytes with `?path=`, up to the limit of the service. Options of the query hold for both; an option in query and body must have one value. Verifies `Content-Digest` (RFC 9530: sha-256, sha-512). Replaces a file completely or not at all.
         */
        put: operations["putSandboxFile"];
        post?: never;
        /**
         * Delete a file
         * @description Deletes the file at `path` from the workspace, and frees its bytes. Sends nothing to an external sandbox, which keeps the file if it has it. `If-Match` takes the ETag of an upload or a download.
         */
        delete: operations["deleteSandboxFile"];
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
         * Show the system status
         * @description Returns versions and retention times. The operator tenant also gets the state of Postgres, the backlog of operations, workers and gateways.
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
         * List execution targets
         * @description Returns the targets where revisions of this tenant can run, by name. Commands, addresses and secrets of the operator's configuration are omitted.
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
         * @description Requires an admin of the operator tenant.
         */
        get: operations["listTenants"];
        put?: never;
        /**
         * Create a tenant
         * @description Returns the tenant and its first admin token, which is shown once. Requires an admin of the operator tenant.
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
         * Update a tenant
         * @description Changes the organizations whose users can get access. Accepts a JSON merge patch: given fields replace the current values. Requires an admin of the operator tenant.
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
         * @description Returns tokens with their scopes and the time of their last use, never with their secret.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create an API token
         * @description Returns the secret in `token`. It is shown only once, because only its hash is stored. The token expires after 90 days unless `expires_at` or `expires_in` is given. It cannot have more scopes than its creator, and no usable token of the tenant can have the same name.
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
         * @description Applies from the next request. Revoking a token again returns the same response.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API token
         * @description Creates a token with the name, the scopes and the owner of this one, and returns its secret in `token`, once. The old token stays usable for `overlap_seconds`, so that its users can change over. The new one lives as long as the old one was made for, unless `expires_at` or `expires_in` is given. Its `minters` also name the caller, who learns the secret. A token is rotated once; rotate its replacement the next time.
         */
        post: operations["rotateToken"];
        delete?: never;
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
         * @description Returns webhooks with the reason if one was disabled, never with their secret.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Posts every new event to the URL as a CloudEvent (structured JSON), signed as standard-webhooks.com describes. Events are sent at least once, in order within their stream. A 2xx response within 10 s accepts an event. Other attempts are retried for about three days, not before the `Retry-After` of the receiver; 410 disables the webhook.
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
        /**
         * Inspect a webhook
         * @description Returns the webhook, never its secrets. Send its `etag` as `If-Match` with a change.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Also deletes its delivery log. Pending events are not sent; a request in progress may still arrive.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Applies a JSON merge patch (RFC 7386). Fields in the patch change, and `null` resets a field to its default. A filter applies to events from now on. Pending deliveries are sent to a new `url` at once. `state` disables the webhook, or enables it with the next event.
         */
        patch: operations["updateWebhook"];
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
         * List webhook deliveries
         * @description Returns deliveries, newest event first. Filter them by `status` and `event_type`. Ended deliveries are kept for 30 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        /**
         * Send an event
         * @description Sends an event of a deployment that this webhook did not get: one from before its creation, from while it was disabled, or outside of its filter. Returns 201 with the new delivery, or 200 if there is one already, which is then sent again.
         */
        post: operations["sendWebhookEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries/{event_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect a webhook delivery
         * @description Returns the delivery of one event: its status, and the result of the last attempt.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries/{event_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event again
         * @description Starts a delivery again with its first attempt, also one that succeeded, failed or was skipped. A pending one is sent now instead of at `next_attempt_at`. It has the same `webhook-id`, so a receiver can recognise the repetition. Ends a pause that the receiver has requested.
         */
        post: operations["redeliverWebhookEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries/{event_id}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Skip a pending delivery
         * @description Gives up a delivery that the receiver refuses, so that the later events of its stream are sent. A request in progress may still arrive. A skipped event can be sent again later.
         */
        post: operations["skipWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret
         * @description Returns a new secret, once. Until `overlap_seconds` have passed, `webhook-signature` has a signature of the new and one of the previous secret, as standard-webhooks.com describes, so that receivers can change in between. A second rotation within an overlap ends the oldest secret.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Posts an event of type `webhook.test` to this webhook, whatever its filter is: signed like all others, with one attempt. Returns its delivery; read that until its `status` is no longer `pending`. The log keeps the last 50 tests.
         */
        post: operations["testWebhook"];
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
         * Show the caller
         * @description Returns tenant, actor, owner and scopes of the caller. Use it to check that a token works and what it may do.
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
        AchievedValueDto: {
            /** @description Null if there are too few values to bound it */
            high: number | null;
            low: number;
            /** @description Samples */
            n: number;
            /** @description In the unit of the metric */
            value: number;
        };
        ActorDto: {
            id: string;
            /** @description Name of the token or the person at the time of the action; null if unknown, absent for components of Slipway and in records that are older than this field */
            name?: string | null;
            /**
             * @description `token`, `user`, or `system` for a component of Slipway
             * @example token
             */
            type: string;
        };
        AnalysisDto: {
            /** @description Required unless `mode` is `none`. Guards judge the outcomes that no metric names. */
            metrics?: components["schemas"]["AnalysisMetricDto"][];
            /**
             * @description `none`: nothing judges the rollout, not even the guards. `metrics` is then ignored and may be absent.
             * @enum {string}
             */
            mode?: "none" | (string & {});
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
        AnalysisInputDto: {
            /** @description Required unless `mode` is `none`. Guards judge the outcomes that no metric names. */
            metrics?: components["schemas"]["AnalysisMetricInputDto"][] | null;
            /**
             * @description `none`: nothing judges the rollout, not even the guards. `metrics` is then ignored and may be absent.
             * @enum {string|null}
             */
            mode?: "none" | null;
            /**
             * @default rollback
             * @enum {string|null}
             */
            on_failure?: "rollback" | "pause" | null;
            /**
             * @default pause
             * @enum {string|null}
             */
            on_inconclusive?: "pause" | "rollback" | null;
        };
        AnalysisMetricDto: {
            /** @enum {string} */
            check: "threshold" | "regression" | (string & {});
            /**
             * @description Whether the check is only reported and never blocks
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Number of breaches of this check that the rollout tolerates
             * @default 0
             */
            failure_limit?: number;
            max_regression_percent?: number;
            /** @default 50 */
            min_samples?: number;
            /** @enum {string} */
            name: "error_rate" | "client_error_rate" | "overloaded_rate" | "abandoned_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "longest_gap_ms" | "e2e_latency_ms" | "output_tokens_per_s" | (string & {});
            /**
             * @description Default: lte for metrics that are better when lower, else gte
             * @enum {string}
             */
            operator?: "lte" | "gte" | (string & {});
            /**
             * @description Default: the default of the metric, which is p95 for values and rate for counts
             * @enum {string}
             */
            stat?: "avg" | "p50" | "p90" | "p95" | "p99" | "rate" | (string & {});
            threshold?: number;
            /** @description Seconds of samples that the check uses; default: the soak */
            window_seconds?: number;
        };
        AnalysisMetricInputDto: {
            /** @enum {string} */
            check: "threshold" | "regression";
            /**
             * @description Whether the check is only reported and never blocks
             * @default false
             */
            dry_run?: boolean | null;
            /**
             * @description Number of breaches of this check that the rollout tolerates
             * @default 0
             */
            failure_limit?: number | null;
            max_regression_percent?: number | null;
            /** @default 50 */
            min_samples?: number | null;
            /** @enum {string} */
            name: "error_rate" | "client_error_rate" | "overloaded_rate" | "abandoned_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "longest_gap_ms" | "e2e_latency_ms" | "output_tokens_per_s";
            /**
             * @description Default: lte for metrics that are better when lower, else gte
             * @enum {string|null}
             */
            operator?: "lte" | "gte" | null;
            /**
             * @description Default: the default of the metric, which is p95 for values and rate for counts
             * @enum {string|null}
             */
            stat?: "avg" | "p50" | "p90" | "p95" | "p99" | "rate" | null;
            threshold?: number | null;
            /** @description Seconds of samples that the check uses; default: the soak */
            window_seconds?: number | null;
        };
        AnalysisPatchDto: {
            metrics?: components["schemas"]["AnalysisMetricInputDto"][] | null;
            /** @enum {string|null} */
            mode?: "none" | null;
            /** @enum {string|null} */
            on_failure?: "rollback" | "pause" | null;
            /** @enum {string|null} */
            on_inconclusive?: "pause" | "rollback" | null;
        };
        ApprovePlanDto: {
            comment?: string | null;
            /** @description The content_digest of the plan that was reviewed; only this content is approved */
            plan_digest: string;
        };
        AttemptCountsDto: {
            /** @description Left by the client after at least 2 s without a first byte of the response, or without its end if it is not streamed */
            abandoned: number;
            /** @description Cancelled by the client earlier, or after content, which is no evidence about the revision */
            cancelled: number;
            /** @description Refused by the model server with another 4xx response than those of `overloaded` */
            client_error: number;
            /** @description Failed before the first byte of a response */
            connect_error: number;
            /** @description Completed with a valid response */
            ok: number;
            /** @description Answered 408, 425 or 429 by the model server */
            overloaded: number;
            /** @description Attempts in `overloaded` that no client saw, because a retry followed */
            overloaded_retried: number;
            /** @description Failed attempts that no client saw, because a retry followed */
            retried: number;
            /** @description Failed with a 5xx or 3xx response, with a refused credential or model name, by a timeout, after the first byte of the response, or with a response that is no valid answer */
            server_error: number;
        };
        AudienceDto: {
            /**
             * @description Ids of additional tenants; only with visibility `tenant`. Only the operator tenant can list other tenants.
             * @default []
             */
            tenants?: string[];
            /**
             * @description `tenant`: the publishing tenant and the listed ones; `shared`: every tenant. Only the operator tenant can use `shared`.
             * @default tenant
             * @enum {string}
             */
            visibility?: "tenant" | "shared" | (string & {});
        };
        AudienceInputDto: {
            /**
             * @description Ids of additional tenants; only with visibility `tenant`. Only the operator tenant can list other tenants.
             * @default []
             */
            tenants?: string[] | null;
            /**
             * @description `tenant`: the publishing tenant and the listed ones; `shared`: every tenant. Only the operator tenant can use `shared`.
             * @default tenant
             * @enum {string|null}
             */
            visibility?: "tenant" | "shared" | null;
        };
        AuditPageDto: {
            data: components["schemas"]["AuditRowDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        AuditRowDto: {
            /** @example rollout.create */
            action: string;
            /**
             * @description Type and id of the actor.
             * @example token:tok_boot
             */
            actor: string;
            /** @description SHA-256 of the resource after the change, as canonical JSON. */
            after_digest: string | null;
            /**
             * Format: date-time
             * @description Time of the change, with microseconds.
             */
            at: string;
            /** @description SHA-256 of the resource before the change, as canonical JSON. */
            before_digest: string | null;
            /** @description SHA-256 over `previous_hash` and the canonical JSON (RFC 8785) of this row without its two hashes. */
            hash: string | null;
            id: string;
            /** @description Hash of the previous row; 64 zeros for the first one. */
            previous_hash: string | null;
            /** @description Number of reads that the row covers: its own and identical ones since the previous row. Omitted for mutations. */
            reads?: number;
            /** @description `X-Request-Id` of the request; null if the change was not made by a request. */
            request_id: string | null;
            /** @example chat */
            resource_name: string;
            /** @example deployment */
            resource_type: string;
            /** @description Position in the chain of the tenant, from 1 without gaps; null until the row is sealed, about a second later. */
            sequence: number | null;
            tenant_id: string;
        };
        BakeDto: {
            /** @description Only checks of type `threshold`: no other revision has traffic to compare with */
            metrics: components["schemas"]["AnalysisMetricDto"][];
            /** @description Seconds after the promotion. `keep_previous_seconds` must be at least this, so that a rollback is immediate */
            seconds: number;
        };
        BakeInputDto: {
            /** @description Only checks of type `threshold`: no other revision has traffic to compare with */
            metrics: components["schemas"]["AnalysisMetricInputDto"][];
            /** @description Seconds after the promotion. `keep_previous_seconds` must be at least this, so that a rollback is immediate */
            seconds: number;
        };
        BakePatchDto: {
            metrics?: components["schemas"]["AnalysisMetricInputDto"][] | null;
            seconds?: number | null;
        };
        BindingDto: {
            /** Format: date-time */
            created_at: string;
            /** @description Whether an adopted server of the revision now serves a different model. Gateways do not call it until it serves the right one again */
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
            /** @description Maximum concurrent requests for each gateway */
            max_concurrency?: number | null;
            /** @description Maximum requests per second for each gateway */
            max_rps?: number | null;
            /** @description Part of the other two limits that one tenant may use. Default: 0.5 if the publication has other tenants, else 1 */
            share_per_tenant?: number | null;
        };
        BindingPageDto: {
            data: components["schemas"]["BindingDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        BindingTargetDto: {
            /**
             * Format: uri
             * @description OpenAI-compatible server that the operator allows as a supplier.
             * @example https://models.inference.example.com/v1
             */
            base_url?: string | null;
            /**
             * Format: password
             * @description Bearer credential for the supplier; stored encrypted, never shown.
             */
            credential?: string | null;
            /** @description Deployment of this tenant; requires `revision`. */
            deployment?: string | null;
            /** @description Name of the model at the supplier. */
            model?: string | null;
            /** @description Id, number or name of the revision; resolved once and pinned. */
            revision?: string | null;
            /** @description Name of the supplier that runs the server; requires `base_url` and `model`. Shown to admins only. */
            supplier?: string | null;
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
        CalibrationDto: {
            /** @description Plans whose errors decide the intervals of new plans; 0: not yet calibrated */
            calibrated_on: number;
            /** @description Width h of the intervals of new plans: from value / (1 + h / 100) to value * (1 + h / 100). Uncertain measurements make it wider */
            half_width_percent: number;
            /** @description Only kinds with measured predictions */
            kinds: components["schemas"]["CalibrationKindDto"][];
            /** @description Number of plans from which intervals are calibrated */
            least_plans: number;
            /** @description Level of the intervals, which the coverage is compared with */
            level_percent: number;
            warnings?: components["schemas"]["WarningDto"][];
        };
        CalibrationKindDto: {
            /** @description How much more than predicted was achieved, on average of these plans; negative if less */
            bias_percent: number | null;
            /** @description Share of these plans whose every prediction that moved was inside its interval; null without plans */
            coverage_percent: number | null;
            /** @enum {string} */
            kind: "scale_up" | "scale_down" | "retarget" | "revert" | "manual" | (string & {});
            /** @description Median error of these plans. The error of a plan is its largest over the predictions that moved */
            median_error_percent: number | null;
            /** @description Plans with a measured prediction that moved */
            n: number;
            /** @description The newest 100, newest first */
            predictions: components["schemas"]["CalibrationPredictionDto"][];
        };
        CalibrationPredictionDto: {
            achieved: components["schemas"]["AchievedValueDto"];
            /** Format: date-time */
            at: string;
            /** @description Name of the deployment */
            deployment: string;
            /** @example ttft_ms */
            metric: string;
            /** @description Whether the predicted or the achieved value differs from the one before by at least 20 percent. Only these count */
            moved: boolean;
            /** @description Value before the plan */
            now: number | null;
            /** @enum {string} */
            phase: "promotion" | "window" | (string & {});
            plan_id: string;
            predicted: components["schemas"]["PredictedValueDto"];
            /** @example p95 */
            stat: string;
            /** @description Whether the achieved value is inside the predicted interval */
            within: boolean;
        };
        CancelOperationDto: {
            /** @description Reason for the cancellation. The operation and its event show it. */
            reason?: string | null;
        };
        CapacityDto: {
            /** @description Null if the target does not report it or has no limit */
            free: number | null;
            /** @description Seconds that requests are expected to wait, estimated from the last measured starts. 0 if no request waits; null if no start was measured */
            gap_seconds: number | null;
            /** @description Number of instances or devices that the revision needs on the target */
            needed: number;
            target: string;
        };
        CatalogEndpointDto: {
            /** @example http://127.0.0.1:7080/v1 */
            base_url: string;
            /**
             * @description Value to send as `model`
             * @example acme/chat
             */
            model: string;
        };
        CatalogEntryDto: {
            /**
             * @description Measured over the last minute
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
            /** @description Measured over the last 15 minutes; null if no request was served. */
            performance: components["schemas"]["CatalogPerformanceDto"] | null;
            pricing: components["schemas"]["CatalogPricingDto"] | null;
            /** @description True if a `cache_salt` in a request does not keep the timing of its prompts from other tenants: the time of a response can show them whether an earlier prompt began with the same text. False if it does. */
            shares_prefix_cache: boolean;
            /** @example acme/chat */
            slug: string;
            supported_parameters: string[];
            warnings?: components["schemas"]["WarningDto"][];
        };
        CatalogPageDto: {
            data: components["schemas"]["CatalogEntryDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        CatalogPerformanceDto: {
            /** @description Median per request */
            output_tokens_per_s: number | null;
            /** @description Time to the first token of streamed requests; null if no request was streamed. */
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
             * @description Time at which `status` last changed
             */
            last_transition_at: string;
            /** @description Explanation in one sentence */
            message: string;
            /**
             * @description Machine-readable reason in one word
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
            /** @description Empty if access is revoked. */
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
            warnings?: components["schemas"]["WarningDto"][];
        };
        CreateBindingDto: {
            limits?: components["schemas"]["BindingLimitsDto"] | null;
            product_id: string;
            /** @description Either `{deployment, revision}` or `{supplier, base_url, model, credential}`. */
            target: components["schemas"]["BindingTargetDto"];
        };
        CreateDeploymentDto: {
            /** @description Gate of rollouts that omit `analysis`. Rollouts without a soak, such as that of a first revision, skip it. Without it, guards judge a soak. */
            default_analysis?: components["schemas"]["AnalysisInputDto"] | null;
            /** @description Strategy of rollouts that omit `strategy` */
            default_strategy?: components["schemas"]["StrategyInputDto"] | null;
            description?: string | null;
            display_name?: string | null;
            /**
             * @description Seconds that an instance without traffic waits for its requests in flight before it is stopped. Without requests it stops at once.
             * @default 600
             */
            drain_seconds?: number | null;
            /** @example production */
            environment?: string | null;
            /**
             * @description Default: `{}`
             * @example {
             *       "team": "search"
             *     }
             */
            labels?: {
                [key: string]: string;
            } | null;
            /** @description Which URLs of media (`image_url`, `input_audio`, `file` and their like) its inference requests may name. The gateways refuse others with 400 `media_url_refused`. A published slug has a rule of its own in addition. Default: `{"allow":"any","hosts":[]}` */
            media_urls?: components["schemas"]["MediaUrlsInputDto"] | null;
            /**
             * @description Name that clients send as `model`; unique within the tenant
             * @example chat
             */
            name: string;
            /** @description Changes that the deployment is protected from. Lowering it requires the scope admin. A rollback is always allowed. Default: `{"deletion":false,"rollouts":"any"}` */
            protection?: components["schemas"]["ProtectionInputDto"] | null;
            /**
             * @description Number of unused revisions to keep. Revisions that a route, binding or rollback refers to are always kept.
             * @default 10
             */
            revision_history_limit?: number | null;
            /** @description Overrides single fields of the `scaling` of its revisions. Omitted fields keep the value of the revision. */
            scaling?: components["schemas"]["ScalingOverrideInputDto"] | null;
        };
        CreatePassportDto: {
            /** @description Applies until the first request; after that, the affinity of the route applies. */
            affinity?: components["schemas"]["PassportAffinityRequestDto"] | null;
            /**
             * @description Value that requests of the session send as `model`: the name of a deployment, or the slug of a model API.
             * @example chat
             */
            deployment: string;
            /** @description The key that requests of the session carry. Only a keyed hash of it is stored. */
            session_id: string;
            /** @description Owner of the session, as free text. */
            subject?: string | null;
        };
        CreatePlanDto: {
            /** @description Id, number or name of the revision that the plan is based on; it must be the active one, which is the default */
            base_revision?: string | null;
            /** @description Expected spec digest of the base; the request fails with 409 plan_stale if it differs */
            base_spec_digest?: string | null;
            /**
             * @description Changes to the spec; derived from rollout if omitted
             * @default []
             */
            changes?: components["schemas"]["PlanChangeInputDto"][] | null;
            /**
             * @description Name of the deployment
             * @example chat
             */
            deployment: string;
            /** @default [] */
            evidence?: components["schemas"]["PlanEvidenceInputDto"][] | null;
            /** @description Impact that the author expects, as a free-form object. Entries of `metrics` with `metric`, `stat`, `now` (or null), and `predicted` with `value`, `low` and `high`, are compared with what the plan achieves */
            predicted_impact?: {
                [key: string]: unknown;
            } | null;
            /** @description Risk as the author sees it; the policy adds its own reasons. Default: `{"level":"low","reasons":[]}` */
            risk?: components["schemas"]["PlanRiskInputDto"] | null;
            /**
             * @description Body for POST /deployments/{name}/rollouts; derived from changes if omitted
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
            } | null;
            /** @default  */
            summary?: string | null;
        };
        CreateProductDto: {
            context_length?: number | null;
            description?: string | null;
            /** @description Defaults to the slug. */
            display_name?: string | null;
            max_output_tokens?: number | null;
            /**
             * @default [
             *       "text"
             *     ]
             */
            modalities?: ("text" | "image" | "audio" | "video" | "embedding" | "file")[] | null;
            pricing?: components["schemas"]["PricingDto"] | null;
            /**
             * @description `vendor/model`, which clients send as `model`. The vendor must be the name of the tenant; the operator tenant can use any vendor.
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
            supported_parameters?: string[] | null;
        };
        CreatePublicationDto: {
            /** @description Defaults to the publishing tenant alone. */
            audience?: components["schemas"]["AudienceInputDto"] | null;
            bindings: components["schemas"]["PublicationBindingInputDto"][];
            /** @description Which URLs of media (`image_url`, `input_audio`, `file` and their like) its requests may name. The gateways refuse others with 400 `media_url_refused`. A deployment that a binding leads to keeps its own rule in addition. Default: `{"allow":"data_only","hosts":[]}` */
            media_urls?: components["schemas"]["MediaUrlsInputDto"] | null;
            notes?: string | null;
            product_id: string;
        };
        CreateReferenceDto: {
            /**
             * Format: uri
             * @description http or https URL without user, query and fragment. Files are sent only to URLs that the operator allows.
             * @example https://49983-sandbox.e2b.app
             */
            base_url: string;
            /**
             * Format: password
             * @description Sent to the provider with each file; stored encrypted, never shown.
             */
            credential?: string | null;
            /** @description Id of the sandbox at the provider. */
            external_id: string;
            /** @description Labels of the sandbox that is created with the reference. */
            labels?: {
                [key: string]: string;
            } | null;
            /** @enum {string} */
            provider: "e2b" | "daytona" | "custom";
        };
        CreateSandboxDto: {
            /**
             * Format: date-time
             * @description Time at which the sandbox and its files are deleted. Defaults to never.
             */
            expires_at?: string | null;
            /**
             * @example {
             *       "team": "search"
             *     }
             */
            labels?: {
                [key: string]: string;
            } | null;
            /**
             * @description Defaults to the provider of the reference, or to local without a reference.
             * @enum {string|null}
             */
            provider?: "local" | "e2b" | "daytona" | "custom" | null;
            /** @description Id of an active reference. The files of this sandbox are sent to its external sandbox. */
            reference_id?: string | null;
            workspace?: components["schemas"]["WorkspaceRequestDto"] | null;
        };
        CreateTenantDto: {
            /**
             * @description Organizations (`org_id` in the hosted provider's tokens) whose users can get access to the tenant. An organization without a tenant belongs to the operator tenant. If several tenants have the same organization, each of them can map its users.
             * @default []
             * @example [
             *       "org_01"
             *     ]
             */
            external_organization_ids?: string[] | null;
            /**
             * @description Unique regardless of case, without white space at either end, in Unicode form NFKC without invisible characters. Slugs of the tenant begin with it. It cannot be changed.
             * @example acme
             */
            name: string;
            /** @description Owner of the first token. Defaults to the person `admin`. */
            owner?: components["schemas"]["OwnerRequestDto"] | null;
        };
        CreateTokenDto: {
            /**
             * Format: date-time
             * @description At most 365 days from now. Not together with `expires_in`.
             */
            expires_at?: string | null;
            /**
             * @description Time from now until the token expires, in weeks, days, hours, minutes and seconds: `30d`, `12h`, `1d12h`. Not together with `expires_at`.
             * @example 30d
             */
            expires_in?: string | null;
            /**
             * @description Unique among the tokens of the tenant that are neither revoked nor expired.
             * @example ci
             */
            name: string;
            /** @description Defaults to the owner of the caller. */
            owner?: components["schemas"]["OwnerRequestDto"] | null;
            /** @description Each scope includes the lower ones. Duplicates are removed. */
            scopes: ("viewer" | "operator" | "admin")[];
        };
        CreateWebhookDto: {
            /**
             * @description Deployments whose events are sent. Empty means all events of the tenant.
             * @default []
             * @example [
             *       "chat"
             *     ]
             */
            deployments?: string[] | null;
            /** @description Free text */
            description?: string | null;
            /**
             * @description Types of events to send: exact types, or all of a kind such as `rollout.*`. Empty means all.
             * @default []
             * @example [
             *       "rollout.*",
             *       "route.updated"
             *     ]
             */
            event_types?: ("autopilot.*" | "autopilot.diagnosed" | "autopilot.evidence_insufficient" | "autopilot.quiet" | "autopilot.slo_missed" | "deployment.*" | "deployment.created" | "deployment.drain_ended" | "deployment.scaled" | "deployment.updated" | "instance.*" | "instance.abandoned" | "instance.crashed" | "instance.drifted" | "instance.moved" | "instance.ready" | "instance.unhealthy" | "operation.*" | "operation.paused" | "operation.promoted" | "operation.resumed" | "operation.status_changed" | "plan.*" | "plan.approved" | "plan.created" | "plan.expired" | "plan.outcome_recorded" | "plan.rejected" | "plan.superseded" | "policy.*" | "policy.updated" | "restart.*" | "restart.completed" | "restart.started" | "revision.*" | "revision.created" | "revision.failed" | "revision.misconfigured" | "revision.ready" | "revision.retired" | "rollback.*" | "rollback.completed" | "rollback.started" | "rollout.*" | "rollout.analysis_completed" | "rollout.paused" | "rollout.promoted" | "rollout.reverted" | "rollout.started" | "rollout.step_advanced" | "route.*" | "route.updated" | "target_binding.*" | "target_binding.misconfigured" | "webhook.*" | "webhook.test")[] | null;
            /**
             * @description https URL with a public address, or a URL that the operator allows for webhooks. Redirects are not followed.
             * @example https://hooks.example.com/slipway
             */
            url: string;
        };
        CreatedTenantDto: {
            id: string;
            name: string;
            /** @description The tenant's first admin token. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key. */
            token: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        CreatedTokenDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that created it.
             * @example token:tok_boot
             */
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /**
             * Format: date-time
             * @description Updated at most once a minute while the token is in use.
             */
            last_used_at: string | null;
            /** @description Owners of the tokens that this token descends from, oldest first. */
            minters: components["schemas"]["OwnerDto"][];
            name: string;
            owner: components["schemas"]["OwnerDto"];
            /** @description Id of the token that a rotation put in its place. Both have the same name, and this one is usable until `expires_at`. */
            replaced_by: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            revoked_by: string | null;
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            /** @enum {string} */
            state: "active" | "revoked" | "expired" | (string & {});
            /** @description The token itself. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key. */
            token: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        CreatedWebhookDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that created it.
             * @example token:tok_boot
             */
            created_by: string;
            deployments: string[];
            description: string | null;
            /** Format: date-time */
            disabled_at: string | null;
            /** @description `gone`: the receiver returned 410. `requested`: by a change of the webhook. */
            disabled_reason: ("gone" | "requested" | (string & {})) | null;
            /** @description Changes with every change of the webhook; send it as `If-Match`. */
            etag: string;
            event_types: string[];
            id: string;
            /**
             * Format: date-time
             * @description The receiver returned 429 or 503 with `Retry-After`: nothing is sent to it before this time.
             */
            paused_until: string | null;
            /**
             * Format: date-time
             * @description After a rotation: until this time requests also carry a signature of the previous secret.
             */
            previous_secret_until: string | null;
            /**
             * @description Key that signs every request (standard-webhooks, HMAC-SHA256). Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret: string | null;
            /** @enum {string} */
            state: "active" | "disabled" | (string & {});
            url: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeclaredWorkloadDto: {
            /** @description Concurrent requests */
            concurrency?: number;
            input_tokens_p95?: number;
            output_tokens_p95?: number;
            /** @description Requests per second */
            request_rate?: number;
        };
        DeletedBindingDto: {
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedConsoleAccessDto: {
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedFileDto: {
            /** @description Always false: an external sandbox keeps the file if it has it. */
            external_sandbox_changed: boolean;
            /**
             * @description Relative POSIX path of at most 1024 bytes, without . and ..
             * @example data/input.json
             */
            path: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedPassportDto: {
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedProductDto: {
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedReferenceDto: {
            /** @description Always false: deleting sends nothing to the external sandbox. */
            external_sandbox_changed: boolean;
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedSandboxDto: {
            /** @description Always false: deleting sends nothing to an external sandbox. */
            external_sandbox_changed: boolean;
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeletedWebhookDto: {
            id: string;
            /** @enum {string} */
            state: "deleted" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeploymentCostDto: {
            /**
             * @description Name of the accelerator, as in `resources.accelerator`; null if the revision names none
             * @example nvidia-l4
             */
            accelerator: string | null;
            /** @description Devices of the ready and starting instances of the active revision. An instance that shares a device counts as a whole one */
            devices: number;
            /** @description Price of these devices for an hour, by the operator's prices; null if there is none for the accelerator */
            per_hour: components["schemas"]["MoneyDto"] | null;
        };
        DeploymentDto: {
            /**
             * @description Name of the revision that last received 100 % of the traffic
             * @example chat-00002
             */
            active_revision: string | null;
            /** @description Name of the revision that a rollout has built or is building */
            candidate_revision: string | null;
            conditions: components["schemas"]["ConditionDto"][];
            /** @description Devices of the active revision now, and their price. An estimate: it does not count other revisions or instances that stop. Null without an active revision, and if its instances take no device */
            cost: components["schemas"]["DeploymentCostDto"] | null;
            /** Format: date-time */
            created_at: string;
            created_by: components["schemas"]["ActorDto"];
            current_operation_id: string | null;
            default_analysis: components["schemas"]["AnalysisDto"] | null;
            default_strategy: components["schemas"]["StrategyDto"] | null;
            description: string | null;
            display_name: string | null;
            /** @description Seconds that an instance without traffic waits for its requests in flight */
            drain_seconds: number;
            /** @description Requests that instances wait for before they stop; null if there are none */
            draining: components["schemas"]["DrainingDto"] | null;
            /** @description `scaling` of the active revision with the overrides of the deployment applied */
            effective_scaling: components["schemas"]["EffectiveScalingDto"] | null;
            environment: string | null;
            /** @description Value of the ETag header. It changes when a user or an operation changes the deployment, not with its health. */
            etag: string;
            /** @example dep_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            labels: {
                [key: string]: string;
            };
            /** @description The last start of an instance that failed. Null once a later start of that revision is ready, or a later rollout or rollback has succeeded */
            last_failed_start: components["schemas"]["FailedStartDto"] | null;
            /** @description Which URLs of media its inference requests may name */
            media_urls: components["schemas"]["MediaUrlsDto"];
            /** @example chat */
            name: string;
            /** @description Name of the revision that a rollback returns to by default */
            previous_revision: string | null;
            protection: components["schemas"]["ProtectionDto"];
            replicas: components["schemas"]["ReplicasDto"];
            revision_history_limit: number;
            route: components["schemas"]["DeploymentRouteDto"] | null;
            /** @description Overrides of the `scaling` of its revisions */
            scaling: components["schemas"]["ScalingOverrideDto"] | null;
            /** @enum {string} */
            state: "creating" | "active" | "progressing" | "paused" | "degraded" | "failed" | "deleting" | (string & {});
            /** Format: date-time */
            updated_at: string;
            /** @description Actor that last changed the settings. Changes by operations do not count. */
            updated_by: components["schemas"]["ActorDto"];
            /** @description Reason why the current operation waits, as in its record. `approval`, `decision` and `resume` need a person. Null if it does not wait */
            waiting_for: ("soak" | "traffic" | "capacity" | "approval" | "decision" | "resume" | (string & {})) | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeploymentMetricsDto: {
            /**
             * Format: date-time
             * @description Time until which all gateways have reported. Steps that end later can still change. Null if no gateway is running or one has not reported yet.
             */
            complete_until: string | null;
            /** @description Revisions, newest first */
            data: components["schemas"]["RevisionMetricsDto"][];
            /** @example chat */
            deployment: string;
            /**
             * Format: date-time
             * @description Start of the first step, a multiple of `step_seconds`
             */
            from: string;
            /** @description Whether more revisions had requests in the range. Request them with `revision`. */
            has_more: boolean;
            step_seconds: number;
            /** Format: date-time */
            to: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        DeploymentPageDto: {
            data: components["schemas"]["DeploymentDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
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
        DiagnosisCostDto: {
            /** @description Devices of its instances */
            devices: number;
            /** @description Price of all devices for one hour; null if the configuration of the operator has no price */
            now: components["schemas"]["MoneyDto"] | null;
        };
        DiagnosisDecisionDto: {
            /** Format: date-time */
            at: string;
            /**
             * @description Why it wrote none, for programs
             * @example cooldown
             */
            because?: string;
            /** @description The same for people */
            message: string;
            /** @description The plan that the last round wrote */
            plan_id?: string;
            /**
             * Format: date-time
             * @description When the reason ends, if that is known
             */
            until: string | null;
        };
        DiagnosisDto: {
            /** Format: date-time */
            at: string;
            cost: components["schemas"]["DiagnosisCostDto"];
            /** @description The decision of the last round of the autopilot; null before the first one */
            decision: components["schemas"]["DiagnosisDecisionDto"] | null;
            /**
             * @description Name of the deployment
             * @example chat
             */
            deployment: string;
            slos: components["schemas"]["SloDiagnosisDto"][];
            warnings?: components["schemas"]["WarningDto"][];
            /** @description The time that is judged; null without records */
            window: components["schemas"]["DiagnosisWindowDto"] | null;
            workload: components["schemas"]["DiagnosisWorkloadDto"];
        };
        DiagnosisIntervalDto: {
            /** @description Upper end of the interval; null if there are too few values to bound it */
            high: number | null;
            /** @description Lower end of the interval */
            low: number;
            /** @description In the unit of the metric */
            value: number;
        };
        DiagnosisMeasuredDto: {
            /** @description Upper end of the interval; null if there are too few values to bound it */
            high: number | null;
            /** @description Lower end of the interval */
            low: number;
            /** @description Samples */
            n: number;
            /** @description In the unit of the metric */
            value: number;
        };
        DiagnosisPointDto: {
            /** @description Upper end of the interval; null if there are too few values to bound it */
            high: number | null;
            /** @description Requests in flight on the instance, the request itself included */
            load: number;
            /** @description Lower end of the interval */
            low: number;
            /** @description Samples */
            n: number;
            /** @description In the unit of the metric */
            value: number;
        };
        DiagnosisReplicasDto: {
            /** @description The peak, in requests per second, that `needed` is for */
            at_rate: number | null;
            /** @description Fewest instances that meet this SLO at the peak; null if unknown */
            needed: number | null;
            /** @description Instances in the window */
            now: number;
        };
        DiagnosisWindowDto: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
        };
        DiagnosisWorkloadDto: {
            /** @description By the policy */
            declared: components["schemas"]["DeclaredWorkloadDto"];
            /** @description Members that differ by more than 25 percent */
            moved: string[];
            /** @description By the records; null if unknown */
            observed: components["schemas"]["ObservedWorkloadDto"];
        };
        DistributionDto: {
            avg: number | null;
            p50: number | null;
            p90: number | null;
            p95: number | null;
            p99: number | null;
            /** @description Number of values, one for each attempt */
            samples: number;
        };
        DrainingDto: {
            /** @description Requests in flight that instances without traffic wait for */
            requests: number;
            revisions: components["schemas"]["RevisionDrainDto"][];
        };
        EffectiveScalingDto: {
            /** @description Null if the deployment never scales to zero */
            idle_seconds: number | null;
            max_replicas: number;
            min_replicas: number;
            scale_down_after_seconds: number;
            /** @description Null if the number of instances does not follow the load */
            target_in_flight: number | null;
        };
        EndpointSpecDto: {
            /**
             * @description Path of the API below the base URL. If omitted: the base URL itself if its path ends in a version, such as `/v1`, `/api/v3` or `/v1beta/openai`; else `/v1` below it
             * @example /openai
             */
            api_path?: string;
            /**
             * @description URL of a running OpenAI-compatible server; set this, `base_urls` or both
             * @example http://127.0.0.1:8000
             */
            base_url?: string;
            /**
             * @description Further servers with the same model; each is a separate instance. At most 32 including `base_url`
             * @example [
             *       "http://127.0.0.1:8001",
             *       "http://127.0.0.1:8002"
             *     ]
             */
            base_urls?: string[];
            /** @description A secret of the operator's configuration, sent as a bearer token */
            credential_ref?: string;
            /** @default /health */
            health_path?: string;
            /**
             * @default openai
             * @enum {string}
             */
            protocol?: "openai" | (string & {});
        };
        EndpointSpecInputDto: {
            /**
             * @description Path of the API below the base URL. If omitted: the base URL itself if its path ends in a version, such as `/v1`, `/api/v3` or `/v1beta/openai`; else `/v1` below it
             * @example /openai
             */
            api_path?: string | null;
            /**
             * @description URL of a running OpenAI-compatible server; set this, `base_urls` or both
             * @example http://127.0.0.1:8000
             */
            base_url?: string | null;
            /**
             * @description Further servers with the same model; each is a separate instance. At most 32 including `base_url`
             * @example [
             *       "http://127.0.0.1:8001",
             *       "http://127.0.0.1:8002"
             *     ]
             */
            base_urls?: string[] | null;
            /** @description A secret of the operator's configuration, sent as a bearer token */
            credential_ref?: string | null;
            /** @default /health */
            health_path?: string | null;
            /**
             * @default openai
             * @enum {string|null}
             */
            protocol?: "openai" | null;
        };
        EngineArgDto: {
            /** @description Name of another argument. The value must be at least as large as the value of that argument. */
            at_least?: string;
            /**
             * @description List of allowed values
             * @example [
             *       "f16",
             *       "q8_0"
             *     ]
             */
            choices?: string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null;
            /**
             * @description Value if a revision does not set the argument
             * @example 8192
             */
            default?: string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null;
            /** @description Largest allowed number, inclusive */
            max?: number;
            /** @description Smallest allowed number, inclusive */
            min?: number;
            /**
             * @description Key of `runtime.args`
             * @example ctx_size
             */
            name: string;
            /** @description True if the argument may change the quality of responses */
            quality?: boolean;
            /**
             * @description Purpose of the argument, or the trade-off that it controls
             * @example throughput against ITL
             */
            reason?: string;
            /**
             * @description List of values worth trying
             * @example [
             *       4096,
             *       8192
             *     ]
             */
            tune?: string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null;
            /**
             * @description `string` also accepts a number or true/false; `json` is the text of a JSON object or list
             * @enum {string}
             */
            type: "string" | "integer" | "number" | "boolean" | "choice" | "json" | (string & {});
        };
        ErrorBodyDto: {
            /** @description With binding_exists: the existing binding. */
            binding_id?: string;
            /** @enum {string} */
            category: "invalid_request" | "authentication" | "permission" | "not_found" | "conflict" | "precondition" | "limit" | "capacity" | "upstream" | "internal" | (string & {});
            /**
             * @description Stable code; branch on this.
             * @example validation_failed
             */
            code: string;
            /** @description Each rejected field. */
            details?: components["schemas"]["FieldIssueDto"][];
            /** @description With cursor_expired: the sequence of the first event that is still kept. */
            first_sequence?: number;
            /** @description With quota_exceeded: the limit of the quota. */
            limit?: number;
            /** @description With body_too_large and file_too_large: the limit in bytes. */
            max_bytes?: number;
            /** @description Text for people; it may change at any time. */
            message: string;
            /** @description With conflicts: the operation that blocks the request. */
            operation_id?: string;
            /** @description With quota_exceeded: the name of the quota in the configuration. */
            quota?: string;
            /** @description Recommended next step. */
            remediation?: string;
            /** @description With token_not_rotatable: the token that has already replaced it. */
            replaced_by?: string;
            /** @description X-Request-Id of this response. */
            request_id: string;
            /** @description With scope_insufficient: the required scope. */
            required_scope?: string;
            /** @description Whether the same request can succeed later. */
            retryable: boolean;
            /** @description With revision_not_ready: the first revision that is not ready. */
            revision?: string;
            /** @description With revision_not_ready: all revisions that are not ready. */
            revisions?: string[];
            /** @description With token_exists and token_not_rotatable: the existing token. */
            token_id?: string;
            /** @description With quota_exceeded: how much of the quota is in use. */
            used?: number;
            /** @description With codes that end in `_in_use`: what uses the resource, at most 20. */
            used_by?: components["schemas"]["ResourceUseDto"][];
        };
        ErrorEnvelopeDto: {
            error: components["schemas"]["ErrorBodyDto"];
        };
        EventDto: {
            /** @example token:tok_1 */
            actor: string;
            /** @description At most 64 KiB. If there is more to report, the largest fields are left out and `omitted` lists their names; read the resource for them. */
            data: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            datacontenttype: "application/json" | (string & {});
            id: string;
            operationid: string | null;
            revisionid: string | null;
            /** @description Position in the event stream of the resource, in commit order and without gaps */
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
            /** @description Send it as `cursor` to get the next page; null on the last page */
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        EvidenceDto: {
            /**
             * @description One-sided confidence that a conclusion needs. Intervals have the level 2 x confidence - 1: 0.95 gives 90 % intervals
             * @default 0.95
             */
            confidence?: number;
            /**
             * @description Older evidence supports no plan
             * @default 604800
             */
            max_age_seconds?: number;
            /**
             * @description Time that is judged. Records of minutes are kept for 8 days and those of hours for 30; a longer time gives no conclusion. Each step of a rollout that the autopilot plans is judged for the same time, within 30 s and 180 s
             * @default 1800
             */
            min_duration_seconds?: number;
            /**
             * @description Fewer requests than this give no conclusion and no plan
             * @default 50
             */
            min_samples?: number;
        };
        EvidenceInputDto: {
            /**
             * @description One-sided confidence that a conclusion needs. Intervals have the level 2 x confidence - 1: 0.95 gives 90 % intervals
             * @default 0.95
             */
            confidence?: number | null;
            /**
             * @description Older evidence supports no plan
             * @default 604800
             */
            max_age_seconds?: number | null;
            /**
             * @description Time that is judged. Records of minutes are kept for 8 days and those of hours for 30; a longer time gives no conclusion. Each step of a rollout that the autopilot plans is judged for the same time, within 30 s and 180 s
             * @default 1800
             */
            min_duration_seconds?: number | null;
            /**
             * @description Fewer requests than this give no conclusion and no plan
             * @default 50
             */
            min_samples?: number | null;
        };
        ExperimentBudgetDto: {
            /**
             * @description Paths in the spec of a revision that a plan may change, including everything below them. A bare name is an engine argument. If omitted, a plan may change anything, but the autopilot proposes only scaling.min_replicas. If empty, a plan may change nothing
             * @example [
             *       "scaling.min_replicas",
             *       "runtime.args.max_num_seqs"
             *     ]
             */
            allowed_knobs?: string[];
            /** @description Maximum cost that plans may add in a period, by the operator's prices. An amount of 0 forbids plans that add cost */
            max_cost?: components["schemas"]["MoneyDto"];
            /** @description Number of plans that the autopilot may propose in a period. Its limit for trials has no effect yet: Slipway does not run trials */
            max_experiments?: number;
            /** @description Maximum device hours that plans may add in a period, including the overlap of their rollouts. 0 forbids plans that add any */
            max_gpu_hours?: number;
            /**
             * @description Number of trials that may run at the same time. It has no effect yet: Slipway does not run trials. It is stored for the release that does
             * @default 1
             */
            max_parallel?: number;
            /**
             * @description Maximum share of the traffic that a candidate may get in its first step
             * @default 5
             */
            max_traffic_percent?: number;
            /**
             * @description Period of the budget: the last 1, 7 or 30 days
             * @default month
             * @enum {string}
             */
            period?: "day" | "week" | "month" | (string & {});
        };
        ExperimentBudgetInputDto: {
            /**
             * @description Paths in the spec of a revision that a plan may change, including everything below them. A bare name is an engine argument. If omitted, a plan may change anything, but the autopilot proposes only scaling.min_replicas. If empty, a plan may change nothing
             * @example [
             *       "scaling.min_replicas",
             *       "runtime.args.max_num_seqs"
             *     ]
             */
            allowed_knobs?: string[] | null;
            /** @description Maximum cost that plans may add in a period, by the operator's prices. An amount of 0 forbids plans that add cost */
            max_cost?: components["schemas"]["MoneyDto"] | null;
            /** @description Number of plans that the autopilot may propose in a period. Its limit for trials has no effect yet: Slipway does not run trials */
            max_experiments?: number | null;
            /** @description Maximum device hours that plans may add in a period, including the overlap of their rollouts. 0 forbids plans that add any */
            max_gpu_hours?: number | null;
            /**
             * @description Number of trials that may run at the same time. It has no effect yet: Slipway does not run trials. It is stored for the release that does
             * @default 1
             */
            max_parallel?: number | null;
            /**
             * @description Maximum share of the traffic that a candidate may get in its first step
             * @default 5
             */
            max_traffic_percent?: number | null;
            /**
             * @description Period of the budget: the last 1, 7 or 30 days
             * @default month
             * @enum {string|null}
             */
            period?: "day" | "week" | "month" | null;
        };
        FailedStartDto: {
            /** Format: date-time */
            at: string;
            /**
             * @description Cause, from a closed list
             * @example gpu_memory
             */
            cause: string;
            exit_code: number | null;
            /** @example ins_1 */
            instance_id: string;
            /** @description Last lines of its output, oldest first, without secrets */
            log_tail: string[];
            /** @example it ended with code 1: CUDA out of memory */
            message: string;
            /** @description Next step to fix the failure */
            remediation: string;
            /** @example chat-00007 */
            revision: string;
            /** @example SIGKILL */
            signal: string | null;
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
            /** @description SHA-256 of the file in hex. */
            sha256: string;
            size_bytes: number;
            /**
             * @description Whether the external sandbox has the file; `none` without an external sandbox.
             * @enum {string}
             */
            sync: "none" | "pending" | "synced" | "failed" | (string & {});
            /** @description Reason why the transfer failed. */
            sync_error: string | null;
            /** @description Operation that sends the file to the external sandbox. */
            sync_operation_id: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        FileListDto: {
            data: components["schemas"]["FileDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
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
            /** @description Accelerators that the instance uses */
            devices: components["schemas"]["InstanceDeviceDto"][];
            /** @description Description of a change that was made to it on its target from outside Slipway. The instance keeps running. */
            drift: string | null;
            /** @description Failure of the last start; null once a start is ready */
            failure: components["schemas"]["InstanceFailureDto"] | null;
            /** @description Sequence number of the start */
            generation: number;
            /** @example ins_1 */
            id: string;
            /** @description Requests in flight, according to the last report of each gateway */
            in_flight: number;
            /** @description Whether gateways send it requests of the deployment: it is ready, and the route gives its revision a share */
            is_serving: boolean;
            /** @description Explanation of the reason */
            message: string | null;
            /** @description Number within the revision, from 0 */
            ordinal: number;
            /** @description Location within the target, such as a node */
            place: string | null;
            /** @description Progress of the start, if the target reports it */
            progress: components["schemas"]["InstanceProgressDto"] | null;
            /** @description Reason for the state, from a closed list */
            reason: string | null;
            /** @description Number of crashes since the instance was last requested */
            restarts: number;
            /** @example chat-00007 */
            revision: string;
            /** Format: date-time */
            started_at: string | null;
            /**
             * @description `exited`: it has ended, and starts again if it is still needed
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
             * @description Cause, from a closed list
             * @example gpu_memory
             */
            cause: string;
            exit_code: number | null;
            /** @example it ended with code 1 */
            message: string;
            /** @description Next step to fix the failure */
            remediation: string;
            /** @example SIGKILL */
            signal: string | null;
            /** @description Number of consecutive starts that failed in this way */
            starts: number;
        };
        InstanceListDto: {
            data: components["schemas"]["InstanceDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
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
        MeasuredInputDto: {
            /**
             * @description Samples
             * @default 0
             */
            n?: number | null;
            value?: number | null;
        };
        MediaUrlsDto: {
            /**
             * @description `any`: whatever the engine fetches; `data_only`: only `data:` URLs, which name nothing to fetch; `hosts`: these, and http and https URLs of `hosts`
             * @enum {string}
             */
            allow: "any" | "data_only" | "hosts" | (string & {});
            /**
             * @description With `hosts`: names of hosts in lower case and ASCII, with a port if it is not 80 for http or 443 for https. `*.` allows every host below a name.
             * @default []
             * @example [
             *       "images.example.com",
             *       "*.cdn.example",
             *       "10.0.0.7:8080"
             *     ]
             */
            hosts?: string[];
        };
        MediaUrlsInputDto: {
            /**
             * @description `any`: whatever the engine fetches; `data_only`: only `data:` URLs, which name nothing to fetch; `hosts`: these, and http and https URLs of `hosts`
             * @enum {string}
             */
            allow: "any" | "data_only" | "hosts";
            /**
             * @description With `hosts`: names of hosts in lower case and ASCII, with a port if it is not 80 for http or 443 for https. `*.` allows every host below a name.
             * @default []
             * @example [
             *       "images.example.com",
             *       "*.cdn.example",
             *       "10.0.0.7:8080"
             *     ]
             */
            hosts?: string[] | null;
        };
        MediaUrlsPatchDto: {
            /**
             * @description `any`: whatever the engine fetches; `data_only`: only `data:` URLs, which name nothing to fetch; `hosts`: these, and http and https URLs of `hosts`
             * @enum {string|null}
             */
            allow?: "any" | "data_only" | "hosts" | null;
            /**
             * @description With `hosts`: names of hosts in lower case and ASCII, with a port if it is not 80 for http or 443 for https. `*.` allows every host below a name.
             * @example [
             *       "images.example.com",
             *       "*.cdn.example",
             *       "10.0.0.7:8080"
             *     ]
             */
            hosts?: string[] | null;
        };
        MetricsPointDto: {
            abandoned_rate: components["schemas"]["RateDto"];
            /**
             * Format: date-time
             * @description Start of the step
             */
            at: string;
            /** @description Number of attempts by outcome */
            attempts: components["schemas"]["AttemptCountsDto"];
            client_error_rate: components["schemas"]["RateDto"];
            e2e_latency_ms: components["schemas"]["DistributionDto"];
            error_rate: components["schemas"]["RateDto"];
            /** @description Largest number of ready instances that a gateway could choose from; null if unknown */
            instances: number | null;
            itl_ms: components["schemas"]["DistributionDto"];
            longest_gap_ms: components["schemas"]["DistributionDto"];
            output_tokens_per_s: components["schemas"]["DistributionDto"];
            overloaded_rate: components["schemas"]["RateDto"];
            /** @description Requests per second as clients saw them, without those that clients cancelled */
            requests_per_s: number;
            /** @description Seconds of the step that the records cover so far */
            seconds: number;
            /** @description Number of streams among `ok` */
            streamed: number;
            tokens_in: number;
            tokens_out: number;
            /** @description Output tokens per second of all requests together. `output_tokens_per_s` is the rate of single requests. */
            tokens_out_per_s: number;
            ttft_ms: components["schemas"]["DistributionDto"];
            upstream_fault_rate: components["schemas"]["RateDto"];
        };
        ModelSpecDto: {
            /** @example gguf */
            format?: string;
            /**
             * @description Name of the model at the model server
             * @example llama-3.1-8b
             */
            id: string;
            /** @example Q4_K_M */
            quantization?: string;
            revision?: string;
            /** @description Location of the weights, such as a path or hf://… */
            uri?: string;
        };
        ModelSpecInputDto: {
            /** @example gguf */
            format?: string | null;
            /**
             * @description Name of the model at the model server
             * @example llama-3.1-8b
             */
            id: string;
            /** @example Q4_K_M */
            quantization?: string | null;
            revision?: string | null;
            /** @description Location of the weights, such as a path or hf://… */
            uri?: string | null;
        };
        MoneyDto: {
            amount: number;
            /**
             * @description ISO 4217
             * @example EUR
             */
            currency: string;
        };
        ObjectiveDto: {
            /**
             * @description The better direction of the metric: `maximize` for `output_tokens_per_s`, and `minimize` for all others. The other direction is refused
             * @enum {string}
             */
            direction: "minimize" | "maximize";
            /**
             * @description Metric to improve: one of the gateways, or `gpu_hours_per_mtok` and `cost_per_mtok`, the device hours and the cost of a million output tokens. `cost_per_mtok` needs the operator's price of the accelerator
             * @enum {string}
             */
            metric: "error_rate" | "client_error_rate" | "overloaded_rate" | "abandoned_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "longest_gap_ms" | "e2e_latency_ms" | "output_tokens_per_s" | "gpu_hours_per_mtok" | "cost_per_mtok";
        };
        ObservedWorkloadDto: {
            /** @description Concurrent requests at the peak */
            concurrency: number | null;
            input_tokens_p95: number | null;
            output_tokens_p95: number | null;
            /** @description Peak, in requests per second */
            request_rate: number | null;
        };
        OperationDto: {
            /** @description Attempts of the current step; 0 = no worker has started it */
            attempt: number;
            /** @description Older form of `waiting_for`: null if it waits for no person */
            awaiting: ("approval" | "pause" | (string & {})) | null;
            /** @description Reason given with the request to cancel */
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
             * @description Present only if the operation failed or was cancelled
             * @enum {string}
             */
            error_code?: "analysis_failed" | "analysis_inconclusive" | "analysis_not_comparable" | "attempts_exhausted" | "cancelled_by_user" | "capacity_exhausted" | "dependency_outage" | "health_regression" | "internal" | "metrics_unavailable" | "quota_exceeded" | "superseded" | "target_not_ready" | "validation_failed" | (string & {});
            /** @example op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            /** @description Idempotency-Key of the request that created the operation */
            idempotency_key: string | null;
            /** @example rollout */
            kind: string;
            max_attempts: number;
            message: string;
            /** @description Null unless a person has paused the operation */
            pause: components["schemas"]["OperationPauseDto"] | null;
            /** @description Progress in percent; never decreases before a retry */
            progress: number;
            reason: string | null;
            /** @description X-Request-Id of that request; log lines and the audit log also contain it */
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
             * @description Time when the operation continues by itself: the end of a soak, the next check or the next attempt. Null while it runs and after it has ended
             */
            resume_at: string | null;
            retryable: boolean;
            /** @enum {string} */
            status: "pending" | "running" | "waiting" | "cancelling" | "succeeded" | "failed" | "cancelled" | (string & {});
            steps: components["schemas"]["OperationStepDto"][];
            /** @description Id of the operation that superseded this one */
            superseded_by: string | null;
            /** Format: date-time */
            updated_at: string;
            /** @description Reason why the operation waits. `approval`, `decision` and `resume` need a person: promote passes the first two, resume ends a pause. Null unless `status` is `waiting` */
            waiting_for: ("soak" | "traffic" | "capacity" | "approval" | "decision" | "resume" | (string & {})) | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        OperationEnvelopeDto: {
            /** @description false if the Idempotency-Key belongs to an earlier operation, which is returned instead */
            created: boolean;
            operation: components["schemas"]["OperationDto"];
            warnings?: components["schemas"]["WarningDto"][];
        };
        OperationPageDto: {
            data: components["schemas"]["OperationDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        OperationPauseDto: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["ActorDto"];
            reason: string | null;
        };
        OperationStepDto: {
            /** Format: date-time */
            completed_at: string | null;
            /** @description Observations of the step */
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
            /** @description Whether the current file is in use. If false, the file is invalid or missing, and the previous configuration stays in use. */
            current: boolean;
            /** @description SHA-256 of the configuration file that this api process uses, in hex; null if it uses only built-in defaults */
            digest: string | null;
            /**
             * Format: date-time
             * @description Time at which this process loaded the file
             */
            loaded_at: string;
            /** @description Problems of the current file, by key path; only visible to the operator tenant */
            problems: string[];
        };
        OwnerDto: {
            /**
             * @description For users of the hosted identity provider: `user:` followed by their `sub`
             * @example alice
             */
            id: string;
            /** @enum {string} */
            type: "person" | "service" | (string & {});
        };
        OwnerRequestDto: {
            /**
             * @description Owner of the token. All tokens of one owner count as one approver.
             * @example alice
             */
            id: string;
            /**
             * @description Tokens of a service cannot approve plans.
             * @enum {string}
             */
            type: "person" | "service";
        };
        PassportAffinityDto: {
            /** Format: date-time */
            bound_at: string | null;
            /** @description Value that requests of the session send as `model` */
            deployment: string;
            /** @enum {string} */
            guarantee: "best_effort" | (string & {});
            /** @enum {string} */
            mode: "none" | "soft" | (string & {});
            /** @description Name of the revision it is bound to; null before the first request and for a model API */
            revision: string | null;
            /** @description Opaque id of the destination; it changes when the session moves */
            target: string | null;
            ttl_seconds: number;
        };
        PassportAffinityRequestDto: {
            /**
             * @description Defaults to the mode of the route, or to `soft` without a route.
             * @enum {string|null}
             */
            mode?: "none" | "soft" | null;
            /** @description Seconds. Defaults to the TTL of the route, or to 600 without a route. */
            ttl_seconds?: number | null;
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
            /** @description Declared subject, or the token that the session used last */
            subject: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        PassportPageDto: {
            data: components["schemas"]["PassportDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        PassportSessionDto: {
            /** @description Keyed hash of the session key; the key itself is not stored */
            key_hash: string;
            /**
             * @description Source of the session key
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
        PauseOperationDto: {
            /** @description Reason for the pause. The operation and its event show it. */
            reason?: string | null;
        };
        PlanActorDto: {
            id: string;
            /** @description Name of the token or the person at the time of the action; null if unknown, absent for components of Slipway and in records that are older than this field */
            name?: string | null;
            /** @description Responsible person or service; null for a component of Slipway, absent in plans that are older than this field */
            owner?: components["schemas"]["OwnerDto"] | null;
            /**
             * @description `token`, `user`, or `system` for a component of Slipway
             * @example token
             */
            type: string;
        };
        PlanApprovalDto: {
            approvals: components["schemas"]["PlanDecisionDto"][];
            /** @description Number of distinct people (owners of tokens, or signed-in identities) who must approve, by the policy version of the plan */
            approvals_required: number;
            /** @description The decision that rejected, expired or superseded the plan */
            ended: components["schemas"]["PlanDecisionDto"] | null;
            /** @enum {string} */
            state: "pending" | "approved" | "rejected" | "expired" | "superseded" | (string & {});
            /** @description Increases with every decision */
            version: number;
        };
        PlanAssumptionsDto: {
            /** @description Engine of the base, with its version if the spec names one */
            engine_version: string | null;
            input_tokens_p95: number | null;
            output_tokens_p95: number | null;
            /** @description Peak of the requests, per second */
            peak_request_rate: number | null;
        };
        PlanChangeDto: {
            /** @description The current value; the change is rejected if the actual value differs */
            from?: (string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null) | null;
            /**
             * @default replace
             * @enum {string}
             */
            op?: "add" | "remove" | "replace" | (string & {});
            /**
             * @description JSON Pointer into the spec of the base revision (a dotted path is accepted too)
             * @example /scaling/min_replicas
             */
            path: string;
            rationale?: string | null;
            value?: (string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null) | null;
        };
        PlanChangeInputDto: {
            /** @description The current value; the change is rejected if the actual value differs */
            from?: (string | number | boolean | {
                [key: string]: unknown;
            } | unknown[] | null) | null;
            /**
             * @default replace
             * @enum {string|null}
             */
            op?: "add" | "remove" | "replace" | null;
            /**
             * @description JSON Pointer into the spec of the base revision (a dotted path is accepted too)
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
            /** @description Content digest that the decision applies to */
            digest: string;
        };
        PlanDto: {
            approval: components["schemas"]["PlanApprovalDto"];
            /** @description Conditions under which the predictions of the autopilot hold; null for plans of people, absent in plans that are older than this field */
            assumes?: components["schemas"]["PlanAssumptionsDto"] | null;
            /** @description Whether the assumptions held when the newest outcome was recorded; null before there is one */
            assumptions_hold: boolean | null;
            /** @example chat-00002 */
            base_revision: string;
            base_spec_digest: string;
            changes: components["schemas"]["PlanChangeDto"][];
            /** @description SHA-256 of the canonical JSON (RFC 8785) of all fields above */
            content_digest: string;
            /** Format: date-time */
            created_at: string;
            created_by: components["schemas"]["PlanActorDto"];
            /** @description Name of the deployment */
            deployment: string;
            /** @description Same as the ETag header: content digest, approval version, whether the plan has expired or is stale, and the number of its outcomes */
            etag: string;
            evidence: components["schemas"]["PlanEvidenceDto"][];
            /** @description How the rollout will be carried out, with the defaults of the deployment when the plan was created. Absent in plans that are older than this field */
            execution?: components["schemas"]["PlanExecutionDto"];
            /** Format: date-time */
            expires_at: string;
            /** @example plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            /**
             * @description Kind of the change; `manual` for plans of people. Absent in plans that are older than this field
             * @enum {string}
             */
            kind?: "scale_up" | "scale_down" | "retarget" | "revert" | "manual" | (string & {});
            /** @description Achieved values of the executed plan, oldest first. They are not part of the content and its digest */
            outcomes: components["schemas"]["PlanOutcomeDto"][];
            /** @description Version of the policy that the plan follows; null if there was none */
            policy_version: number | null;
            /** @description As its author stated it. Plans of the autopilot have `metrics` (each with `metric`, `stat`, `now`, its interval and number of samples in `baseline`, `predicted` with `value`, `low` and `high`, `confidence`, `calibrated_on`), `cost` (`now` and `predicted` for one hour; null without a price), `basis` and `gpu_hours` */
            predicted_impact: {
                [key: string]: unknown;
            } | null;
            risk: components["schemas"]["PlanRiskDto"];
            /** @description Body for POST /deployments/{name}/rollouts */
            rollout: {
                [key: string]: unknown;
            };
            /** @description Whether the base is no longer the active revision; a stale plan can be neither approved nor executed */
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
            /** @description Digest of the raw data */
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
        PlanEvidenceInputDto: {
            baseline?: components["schemas"]["MeasuredInputDto"] | null;
            candidate?: components["schemas"]["MeasuredInputDto"] | null;
            /** Format: date-time */
            collected_at?: string | null;
            delta_percent?: number | null;
            /** @description Digest of the raw data */
            digest?: string | null;
            /** @enum {string} */
            kind: "benchmark" | "telemetry" | "simulation" | "canary";
            /** @example ttft_ms */
            metric: string;
            /** @example p95 */
            stat?: string | null;
            /** @example guidellm 0.3 */
            tool?: string | null;
        };
        PlanExecutionDto: {
            /** @description The gate of each soak; null if nothing judges */
            analysis: components["schemas"]["PlanGateDto"] | null;
            /** @description Whether a gate judges the candidate before it has all traffic */
            is_gated: boolean;
            /** @description Strategy with its steps. `auto` becomes `canary` or `recreate` when the plan is executed */
            strategy: components["schemas"]["PlanStrategyDto"];
            /**
             * @description Execution target of the spec
             * @example local
             */
            target: string;
        };
        PlanGateDto: {
            /** @description Judges of the outcomes that no metric names */
            guards: components["schemas"]["PlanGuardDto"][];
            metrics: components["schemas"]["AnalysisMetricDto"][];
            /** @enum {string} */
            on_failure: "rollback" | "pause" | (string & {});
            /** @enum {string} */
            on_inconclusive: "pause" | "rollback" | (string & {});
            /**
             * @description `rollout`: the plan has this gate; `deployment`: the `default_analysis` of the deployment when the plan was created; `default`: guards only
             * @enum {string}
             */
            source: "rollout" | "deployment" | "default" | (string & {});
        };
        PlanGuardDto: {
            /** @description How much higher than that of the stable revision the share may be, 0 to 1 */
            max_difference: number;
            /** @description With fewer requests on either side, the guard rolls nothing back */
            min_samples: number;
            /** @example error_rate */
            name: string;
        };
        PlanOutcomeDto: {
            /** @description At a load that is comparable with the one that the plan assumes; null if nothing was measured */
            achieved: components["schemas"]["AchievedValueDto"] | null;
            /** Format: date-time */
            at: string;
            /** @description Natural logarithm of the achieved value divided by the predicted one */
            log_error: number | null;
            /** @example ttft_ms */
            metric: string;
            /** @description Value before the plan, as the plan states it */
            now: number | null;
            /**
             * @description `promotion`: as soon as there are enough samples. `window`: after `promotion.outcome_window_seconds`
             * @enum {string}
             */
            phase: "promotion" | "window" | (string & {});
            /** @description Null for an SLO that is newly missed and that the plan does not predict */
            predicted: components["schemas"]["PredictedValueDto"] | null;
            /** @description `as_predicted`: inside the interval. `better`: on the better side of it, or outside it and certainly better than before. `worse`: outside it and certainly worse than before, or the SLO is newly missed. `no_effect`: certainly not as predicted, and not certainly different from before. `assumptions_moved`: the load or the lengths of the requests differ from those that the plan assumes. `rolled_back`: another revision replaced that of the plan. Null: too few samples came in time, or they fit the prediction as well as the value before */
            result: ("as_predicted" | "better" | "worse" | "no_effect" | "assumptions_moved" | "rolled_back" | (string & {})) | null;
            /** @example p95 */
            stat: string;
            /** @description Whether the achieved value is inside the predicted interval */
            within: boolean | null;
        };
        PlanPageDto: {
            data: components["schemas"]["PlanDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
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
        PlanRiskInputDto: {
            /**
             * @default low
             * @enum {string|null}
             */
            level?: "low" | "medium" | "high" | null;
            /** @default [] */
            reasons?: string[] | null;
        };
        PlanStrategyDto: {
            bake?: components["schemas"]["BakeDto"];
            /** @description recreate and auto: maximum seconds that a request waits */
            hold_seconds?: number;
            /** @description Empty if no traffic moves step by step */
            steps: components["schemas"]["StrategyStepDto"][];
            /** @enum {string} */
            type: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto" | (string & {});
        };
        PolicyDto: {
            /**
             * @description Name of the deployment
             * @example chat
             */
            deployment: string;
            /** @description Same value as the ETag header */
            etag: string;
            /** @description Evidence that is required before any conclusion. Default: `{"min_samples":50,"min_duration_seconds":1800,"max_age_seconds":604800,"confidence":0.95}` */
            evidence?: components["schemas"]["EvidenceDto"];
            /** @description Limits of what plans may change, add and cost. Default: `{"max_parallel":1,"max_traffic_percent":5,"period":"month"}` */
            experiment_budget?: components["schemas"]["ExperimentBudgetDto"];
            /**
             * @description `observe` only reports findings as events; `recommend` also proposes plans. The autopilot never executes a plan
             * @default recommend
             * @enum {string}
             */
            mode?: "off" | "observe" | "recommend" | (string & {});
            /** @description Metric to improve while all SLOs hold. The autopilot proposes a change for it only if the gain is certain, and at least `promotion.min_gain_percent` */
            objective?: components["schemas"]["ObjectiveAnswerDto"];
            /** @description Rules by which a plan becomes a rollout. Default: `{"approvals_required":1,"prevent_self_approval":true,"require_hosted_identity":false,"max_step_percent":25,"cooldown_seconds":86400,"plan_ttl_seconds":604800,"min_gain_percent":5,"outcome_window_seconds":86400}` */
            promotion?: components["schemas"]["PromotionDto"];
            /** @description Reliability that no plan may put at risk. Default: `{"min_replicas":1,"spare_replicas":0,"right_size_after_seconds":604800,"freeze_windows":[]}` */
            reliability?: components["schemas"]["ReliabilityDto"];
            /**
             * @description Service level objectives that must be met; each metric and stat only once. The diagnosis judges each of them, and so does the gate of a plan's rollout
             * @default []
             */
            slos?: components["schemas"]["SloDto"][];
            /** Format: date-time */
            updated_at: string;
            updated_by: components["schemas"]["ActorDto"];
            /** @description Increases by one with every change. Every version is kept, and each plan records one */
            version: number;
            warnings?: components["schemas"]["WarningDto"][];
            /** @description Expected use of the deployment. Sizing uses the larger of declared and observed load, and the diagnosis shows both */
            workload?: components["schemas"]["WorkloadDto"];
        };
        PolicyPageDto: {
            data: components["schemas"]["PolicyDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        PredictedValueDto: {
            high: number;
            low: number;
            /** @description In the unit of the metric */
            value: number;
        };
        PricingDto: {
            /**
             * @description ISO 4217 currency code
             * @example USD
             */
            currency: string;
            /** @description Price of a million input tokens */
            input_per_mtok: number;
            /** @description Price of a million output tokens */
            output_per_mtok: number;
        };
        PricingPatchDto: {
            currency?: string | null;
            input_per_mtok?: number | null;
            output_per_mtok?: number | null;
        };
        ProbesSpecDto: {
            failure_threshold?: number;
            interval_seconds?: number;
            path?: string;
            /**
             * @description How an instance becomes ready. `request` (default): it answers one small request with a result, once after each start or adoption. `list`: its health and its list of models are enough; its message says that it is not proven
             * @enum {string}
             */
            probe?: "request" | "list" | (string & {});
            timeout_seconds?: number;
        };
        ProbesSpecInputDto: {
            failure_threshold?: number | null;
            interval_seconds?: number | null;
            path?: string | null;
            /**
             * @description How an instance becomes ready. `request` (default): it answers one small request with a result, once after each start or adoption. `list`: its health and its list of models are enough; its message says that it is not proven
             * @enum {string|null}
             */
            probe?: "request" | "list" | null;
            timeout_seconds?: number | null;
        };
        ProductDto: {
            context_length: number | null;
            /** Format: date-time */
            created_at: string;
            description: string | null;
            display_name: string;
            /** @description Changes with everything above. Send it as If-Match with a change. */
            etag: string;
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
            warnings?: components["schemas"]["WarningDto"][];
        };
        PromoteOperationDto: {
            /** @description Reason for the promotion. The operation and its event show it. */
            reason?: string | null;
            /**
             * @description `next` ends the running step as passed; `full` passes all steps and moves all traffic
             * @default next
             * @enum {string|null}
             */
            to?: "next" | "full" | null;
        };
        PromotionDto: {
            /**
             * @description Number of distinct people who must approve a plan
             * @default 1
             */
            approvals_required?: number;
            /**
             * @description Minimum time between two proposals of the autopilot
             * @default 86400
             */
            cooldown_seconds?: number;
            /**
             * @description Maximum percentage points by which one canary step of a plan may raise the traffic
             * @default 25
             */
            max_step_percent?: number;
            /**
             * @description Smaller gains for the objective are not worth a plan
             * @default 5
             */
            min_gain_percent?: number;
            /**
             * @description Time after the promotion of a plan at which its outcome is recorded again. Also the longest wait for enough samples of an outcome. At most a week, because records of minutes are kept for 8 days
             * @default 86400
             */
            outcome_window_seconds?: number;
            /**
             * @description Time in which a plan can be approved and executed
             * @default 604800
             */
            plan_ttl_seconds?: number;
            /**
             * @description The creator of a plan cannot approve it, not even with another token or with one that descends from theirs
             * @default true
             */
            prevent_self_approval?: boolean;
            /**
             * @description Only identities that are signed in at the hosted provider can approve a plan, and not if the plan was created with a token that descends from theirs
             * @default false
             */
            require_hosted_identity?: boolean;
        };
        PromotionInputDto: {
            /**
             * @description Number of distinct people who must approve a plan
             * @default 1
             */
            approvals_required?: number | null;
            /**
             * @description Minimum time between two proposals of the autopilot
             * @default 86400
             */
            cooldown_seconds?: number | null;
            /**
             * @description Maximum percentage points by which one canary step of a plan may raise the traffic
             * @default 25
             */
            max_step_percent?: number | null;
            /**
             * @description Smaller gains for the objective are not worth a plan
             * @default 5
             */
            min_gain_percent?: number | null;
            /**
             * @description Time after the promotion of a plan at which its outcome is recorded again. Also the longest wait for enough samples of an outcome. At most a week, because records of minutes are kept for 8 days
             * @default 86400
             */
            outcome_window_seconds?: number | null;
            /**
             * @description Time in which a plan can be approved and executed
             * @default 604800
             */
            plan_ttl_seconds?: number | null;
            /**
             * @description The creator of a plan cannot approve it, not even with another token or with one that descends from theirs
             * @default true
             */
            prevent_self_approval?: boolean | null;
            /**
             * @description Only identities that are signed in at the hosted provider can approve a plan, and not if the plan was created with a token that descends from theirs
             * @default false
             */
            require_hosted_identity?: boolean | null;
        };
        ProtectionDto: {
            /**
             * @description Whether DELETE returns 409 `deployment_protected`
             * @default false
             */
            deletion?: boolean;
            /**
             * @description `approved_plan`: a rollout without the `plan_id` of an approved plan returns 409 `plan_required`, and DELETE requires the scope admin
             * @default any
             * @enum {string}
             */
            rollouts?: "any" | "approved_plan" | (string & {});
        };
        ProtectionInputDto: {
            /**
             * @description Whether DELETE returns 409 `deployment_protected`
             * @default false
             */
            deletion?: boolean | null;
            /**
             * @description `approved_plan`: a rollout without the `plan_id` of an approved plan returns 409 `plan_required`, and DELETE requires the scope admin
             * @default any
             * @enum {string|null}
             */
            rollouts?: "any" | "approved_plan" | null;
        };
        ProtectionPatchDto: {
            /** @description Whether DELETE returns 409 `deployment_protected` */
            deletion?: boolean | null;
            /**
             * @description `approved_plan`: a rollout without the `plan_id` of an approved plan returns 409 `plan_required`, and DELETE requires the scope admin
             * @enum {string|null}
             */
            rollouts?: "any" | "approved_plan" | null;
        };
        PublicationBindingDto: {
            binding_id: string;
            /**
             * @description Lower values are preferred. Bindings with a higher value serve only while none with a lower value can.
             * @default 0
             */
            priority?: number;
            /**
             * @description Share among the bindings of the same priority; a binding with weight 0 gets no requests.
             * @default 1
             */
            weight?: number;
        };
        PublicationBindingInputDto: {
            binding_id: string;
            /**
             * @description Lower values are preferred. Bindings with a higher value serve only while none with a lower value can.
             * @default 0
             */
            priority?: number | null;
            /**
             * @description Share among the bindings of the same priority; a binding with weight 0 gets no requests.
             * @default 1
             */
            weight?: number | null;
        };
        PublicationDto: {
            audience: components["schemas"]["AudienceDto"];
            bindings: components["schemas"]["PublicationBindingDto"][];
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which it was superseded or withdrawn
             */
            ended_at: string | null;
            /** @example pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            /** @description Which URLs of media its requests may name */
            media_urls: components["schemas"]["MediaUrlsDto"];
            notes: string | null;
            product_id: string;
            /** @description Whether its tenants share a prefix cache that `cache_salt` does not divide: it has several tenants, and a binding with a weight leads to a supplier or to an engine without `cache_salt`. Determined when it is published; true for publications of several tenants from previous releases. */
            shares_prefix_cache: boolean;
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
            warnings?: components["schemas"]["WarningDto"][];
        };
        PutFileDto: {
            /** @description Content of the file, up to 8 MiB. */
            content: string;
            /**
             * @description Encoding of `content`.
             * @default utf-8
             * @enum {string|null}
             */
            encoding?: "utf-8" | "base64" | null;
            /**
             * @description Permission bits, octal.
             * @default 0644
             */
            mode?: string | null;
            /**
             * @description If false, the request fails if the file already exists.
             * @default true
             */
            overwrite?: boolean | null;
            /**
             * @description Relative POSIX path of at most 1024 bytes, without . and ..
             * @example data/input.json
             */
            path: string;
            /** @description Expected SHA-256 of the file in hex; the request fails if it differs. */
            sha256?: string | null;
        };
        QualificationCheckDto: {
            duration_ms: number | null;
            /** @description Result in words; it quotes nothing from the target */
            message: string;
            /** @example chat_completion */
            name: string;
            passed: boolean;
            /**
             * @description `not_applicable`: the check does not apply to this engine, and `message` explains why. It counts neither as passed nor as failed
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
             * @description Time from which gateways no longer call an adopted server, because its model changed; otherwise null
             */
            drifted_since: string | null;
        };
        RateDto: {
            /** @description Share from 0 to 1; null without samples */
            rate: number | null;
            samples: number;
        };
        ReferenceDto: {
            base_url: string;
            /** Format: date-time */
            created_at: string;
            /** @description Whether the operator allows sending files to base_url. If not, every transfer fails. */
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
            /** @description Sandbox that was created with the reference. */
            sandbox_id: string;
            /** @enum {string} */
            state: "active" | "revoked" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        ReferenceListDto: {
            data: components["schemas"]["ReferenceDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
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
            /** @description Changes that the request would make, as RFC 6902 operations */
            diff: components["schemas"]["RehearsalChangeDto"][];
            /** @description Steps of the operation that the request would start; empty if it would start none */
            steps: string[];
            valid: boolean;
            warnings?: components["schemas"]["WarningDto"][];
            /** @description Effect that the request would have */
            would: string;
        };
        RejectPlanDto: {
            comment?: string | null;
            /** @description Expected content_digest of the plan; the request fails with 409 if it differs */
            plan_digest?: string | null;
        };
        ReliabilityDto: {
            /**
             * @description Time windows in which the autopilot proposes nothing
             * @default []
             */
            freeze_windows?: components["schemas"]["FreezeWindowDto"][];
            /** @description Share of failed requests, between 0 and 1. It is an SLO of its own, and the threshold of the error rate in the gate of a plan's rollout */
            max_error_rate?: number;
            /** @description Share of minutes in which no request was refused for want of an instance. If one instance misses it, the autopilot proposes two */
            min_availability_percent?: number;
            /**
             * @description No plan of the autopilot goes below this number of instances
             * @default 1
             */
            min_replicas?: number;
            /**
             * @description Time for which fewer instances must have been enough before the autopilot proposes fewer. The default is a week, so that a quiet weekend triggers no proposal
             * @default 604800
             */
            right_size_after_seconds?: number;
            /**
             * @description Instances that stay in addition to those that the SLOs need when the autopilot proposes fewer
             * @default 0
             */
            spare_replicas?: number;
        };
        ReliabilityInputDto: {
            /**
             * @description Time windows in which the autopilot proposes nothing
             * @default []
             */
            freeze_windows?: components["schemas"]["FreezeWindowDto"][] | null;
            /** @description Share of failed requests, between 0 and 1. It is an SLO of its own, and the threshold of the error rate in the gate of a plan's rollout */
            max_error_rate?: number | null;
            /** @description Share of minutes in which no request was refused for want of an instance. If one instance misses it, the autopilot proposes two */
            min_availability_percent?: number | null;
            /**
             * @description No plan of the autopilot goes below this number of instances
             * @default 1
             */
            min_replicas?: number | null;
            /**
             * @description Time for which fewer instances must have been enough before the autopilot proposes fewer. The default is a week, so that a quiet weekend triggers no proposal
             * @default 604800
             */
            right_size_after_seconds?: number | null;
            /**
             * @description Instances that stay in addition to those that the SLOs need when the autopilot proposes fewer
             * @default 0
             */
            spare_replicas?: number | null;
        };
        ReplicasDto: {
            /** @description Instances that the revisions with traffic should have; 0 while they are scaled to zero */
            desired: number;
            /** @description Number of these instances that are ready */
            ready: number;
        };
        ResourceUseDto: {
            /** @example pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 */
            id: string;
            /** @example publication */
            type: string;
        };
        ResourcesSpecDto: {
            /** @example nvidia-l4 */
            accelerator?: string;
            count?: number;
            memory_mb?: number;
        };
        ResourcesSpecInputDto: {
            /** @example nvidia-l4 */
            accelerator?: string | null;
            count?: number | null;
            memory_mb?: number | null;
        };
        RestartDto: {
            /** @description Maximum seconds that a request waits before it fails with 503, if a revision has one instance and no capacity for another. Default: 60 */
            hold_seconds?: number | null;
            /** @description Seconds within which each instance must be ready. Default: 600, or more if the template of the engine allows more time for a start */
            progress_deadline_seconds?: number | null;
            reason?: string | null;
        };
        ResumeOperationDto: {
            /** @description Reason to continue. The event shows it. */
            reason?: string | null;
        };
        RevisionDiffDto: {
            from: string;
            /** @description JSON Patch (RFC 6902) that turns the first spec into the second */
            patch: components["schemas"]["PatchOperationDto"][];
            to: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        RevisionDrainDto: {
            /** @description Requests in flight that its instances wait for */
            requests: number;
            /** @example chat-00001 */
            revision: string;
            /**
             * Format: date-time
             * @description Time at which the instances stop, whatever requests are in flight
             */
            until: string;
        };
        RevisionDto: {
            change_ref: string | null;
            /** Format: date-time */
            created_at: string;
            created_by: components["schemas"]["ActorDto"];
            /** @description Name of the deployment */
            deployment: string;
            id: string;
            /** @description Reason for the state, such as a failure; empty if there is none */
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
            warnings?: components["schemas"]["WarningDto"][];
        };
        RevisionListDto: {
            data: components["schemas"]["RevisionDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        RevisionMetricsDto: {
            /** @description Requests that wait now, because the revision is scaled to zero */
            held: number;
            /** @description Requests in flight now */
            in_flight: number;
            /** @description Steps, oldest first. Steps in which no request ended are omitted. */
            points: components["schemas"]["MetricsPointDto"][];
            /** @example chat-00007 */
            revision: string;
            /** @description The whole range as one step, because percentiles of steps cannot be added up */
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
        RevisionSpecInputDto: {
            /** @description For targets of kind `endpoint` only */
            endpoint?: components["schemas"]["EndpointSpecInputDto"] | null;
            model: components["schemas"]["ModelSpecInputDto"];
            probes?: components["schemas"]["ProbesSpecInputDto"] | null;
            resources?: components["schemas"]["ResourcesSpecInputDto"] | null;
            runtime: components["schemas"]["RuntimeSpecInputDto"];
            scaling?: components["schemas"]["ScalingSpecInputDto"] | null;
        };
        RevokedReferenceDto: {
            /** @description Always false: revoking sends nothing to the external sandbox. */
            external_sandbox_changed: boolean;
            id: string;
            /**
             * Format: date-time
             * @description Time of the first revocation.
             */
            revoked_at: string;
            /** @enum {string} */
            state: "revoked" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        RollbackDto: {
            /**
             * @description Whether to supersede a running rollout or to fail the request
             * @default supersede
             * @enum {string|null}
             */
            on_active_operation?: "supersede" | "fail" | null;
            reason?: string | null;
            /** @description Id, number or name. Default: the last good revision that was fully active before. During a rollout: the revision that was active when it began or, if that one has no ready instance, the last good revision before it. `result.because` shows the reason. */
            to_revision?: string | null;
        };
        RolloutDto: {
            /** @description Default: the `default_analysis` of the deployment, else guards only. The text `none` is short for `{"mode": "none"}`. `result.gate` of the operation shows which one applies. */
            analysis?: components["schemas"]["AnalysisInputDto"] | null;
            /** @description Id, number or name of the revision that `spec_patch` applies to. Default: the active revision */
            base_revision?: string | null;
            /** @example git:4f2a1c9 */
            change_ref?: string | null;
            /** @description The request fails with 412 unless this revision is active. */
            expected_active_revision?: string | null;
            /** @description Seconds that the previous revision (or an unrouted candidate) stays warm. Default: 3600. Strategy `recreate` accepts only 0, because it keeps nothing. */
            keep_previous_seconds?: number | null;
            /** @description Approved plan that the rollout executes. Omitted fields come from the plan; other fields must match what was approved. */
            plan_id?: string | null;
            /** @description Seconds within which the instances must be ready. Default: 600, or more if the template of the engine allows more time for a start */
            progress_deadline_seconds?: number | null;
            reason?: string | null;
            /** @description Complete spec. Send either this or `spec_patch`. */
            spec?: components["schemas"]["RevisionSpecInputDto"] | null;
            /**
             * @description JSON merge patch (RFC 7386) on `base_revision`. Send either this or `spec`.
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
            } | null;
            /** @description Default: the `default_strategy` of the deployment, else `candidate` */
            strategy?: components["schemas"]["StrategyInputDto"] | null;
        };
        RolloutRehearsalDto: {
            capacity: components["schemas"]["CapacityDto"];
            /** @description Changes that the request would make, as RFC 6902 operations */
            diff: components["schemas"]["RehearsalChangeDto"][];
            /** @description Ready instances of that revision. If there are none, the rollback starts them before it moves traffic; absent for a rollout */
            ready_instances?: number;
            /** @description Name of the revision that a rollback would give all traffic; absent for a rollout */
            revision?: string;
            /** @description Steps of the operation that the request would start; empty if it would start none */
            steps: string[];
            /**
             * @description Strategy of the rollout, with `auto` resolved; absent for a rollback
             * @enum {string}
             */
            strategy?: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto" | (string & {});
            valid: boolean;
            warnings?: components["schemas"]["WarningDto"][];
            /** @description Effect that the request would have */
            would: string;
        };
        RotateTokenDto: {
            /**
             * Format: date-time
             * @description At most 365 days from now. Not together with `expires_in`.
             */
            expires_at?: string | null;
            /**
             * @description Time from now until the token expires, in weeks, days, hours, minutes and seconds: `30d`, `12h`, `1d12h`. Not together with `expires_at`.
             * @example 30d
             */
            expires_in?: string | null;
            /**
             * @description How long the old token stays usable, in seconds, but not beyond its own expiry. With 0 it is revoked at once.
             * @default 3600
             */
            overlap_seconds?: number | null;
        };
        RotateWebhookSecretDto: {
            /**
             * @description How long requests also carry a signature of the previous secret. 0 ends it at once.
             * @default 86400
             */
            overlap_seconds?: number | null;
        };
        RotatedTokenDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that created it.
             * @example token:tok_boot
             */
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /**
             * Format: date-time
             * @description Updated at most once a minute while the token is in use.
             */
            last_used_at: string | null;
            /** @description Owners of the tokens that this token descends from, oldest first. */
            minters: components["schemas"]["OwnerDto"][];
            name: string;
            owner: components["schemas"]["OwnerDto"];
            /** @description The old token. */
            replaced: components["schemas"]["TokenDto"];
            /** @description Id of the token that a rotation put in its place. Both have the same name, and this one is usable until `expires_at`. */
            replaced_by: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            revoked_by: string | null;
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            /** @enum {string} */
            state: "active" | "revoked" | "expired" | (string & {});
            /** @description The new token itself. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key. */
            token: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        RotatedWebhookDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that created it.
             * @example token:tok_boot
             */
            created_by: string;
            deployments: string[];
            description: string | null;
            /** Format: date-time */
            disabled_at: string | null;
            /** @description `gone`: the receiver returned 410. `requested`: by a change of the webhook. */
            disabled_reason: ("gone" | "requested" | (string & {})) | null;
            /** @description Changes with every change of the webhook; send it as `If-Match`. */
            etag: string;
            event_types: string[];
            id: string;
            /**
             * Format: date-time
             * @description The receiver returned 429 or 503 with `Retry-After`: nothing is sent to it before this time.
             */
            paused_until: string | null;
            /**
             * Format: date-time
             * @description After a rotation: until this time requests also carry a signature of the previous secret.
             */
            previous_secret_until: string | null;
            /**
             * @description The new key. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret: string | null;
            /** @enum {string} */
            state: "active" | "disabled" | (string & {});
            url: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        RouteAffinityDto: {
            /**
             * @description `soft`: a session stays on its revision and, if possible, on its instance
             * @default soft
             * @enum {string}
             */
            mode?: "none" | "soft" | (string & {});
            /** @default 600 */
            ttl_seconds?: number;
        };
        RouteAffinityInputDto: {
            /**
             * @description `soft`: a session stays on its revision and, if possible, on its instance
             * @default soft
             * @enum {string|null}
             */
            mode?: "none" | "soft" | null;
            /** @default 600 */
            ttl_seconds?: number | null;
        };
        RouteDto: {
            affinity: components["schemas"]["RouteAffinityDto"];
            /**
             * @description Name of the deployment
             * @example chat
             */
            deployment: string;
            /** @description Value of the ETag header */
            etag: string;
            /** @description Increases by one with every change */
            generation: number;
            /** @description Set while an operation holds new requests, because one revision gives its capacity to another; else null */
            hold: components["schemas"]["RouteHoldDto"] | null;
            reason: string | null;
            targets: components["schemas"]["RouteTargetDto"][];
            /** Format: date-time */
            updated_at: string;
            updated_by: components["schemas"]["ActorDto"];
            warnings?: components["schemas"]["WarningDto"][];
        };
        RouteHoldDto: {
            /** @description Seconds that the hold is expected to last; null if no start was measured */
            estimated_seconds: number | null;
            /** @description Seconds that one request waits at most before it fails with 503 */
            max_seconds: number;
            /** Format: date-time */
            since: string;
        };
        RouteTargetDto: {
            /**
             * @description Id, number or name of a revision of this deployment; responses show its name
             * @example chat-00002
             */
            revision: string;
            /** @description Percent of the requests; 0 keeps the revision in the route without traffic */
            weight: number;
        };
        RuntimeSpecDto: {
            /**
             * @description Arguments that the engine declares; each a string, a number or a boolean
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
            /** @description Environment variables that the engine allows; each a string or {"secret_ref": "name"} */
            env?: {
                [key: string]: unknown;
            };
            /**
             * @description An execution target of the operator's configuration (GET /targets)
             * @example local
             */
            target: string;
        };
        RuntimeSpecInputDto: {
            /**
             * @description Arguments that the engine declares; each a string, a number or a boolean
             * @example {
             *       "ttft_ms": 20
             *     }
             */
            args?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description One of the target's engines
             * @example sim
             */
            engine?: string | null;
            /** @description Environment variables that the engine allows; each a string or {"secret_ref": "name"} */
            env?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description An execution target of the operator's configuration (GET /targets)
             * @example local
             */
            target: string;
        };
        SandboxDto: {
            /** Format: date-time */
            created_at: string;
            /** @description Changes with everything above, also when a file is stored. */
            etag: string;
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
             * @description Last observed state. An external sandbox is observed only when a file is sent to it.
             * @enum {string}
             */
            state: "running" | "paused" | "stopped" | "archived" | "error" | "unknown" | (string & {});
            /**
             * Format: date-time
             * @description Time of the last observation; null if never observed.
             */
            state_observed_at: string | null;
            warnings?: components["schemas"]["WarningDto"][];
            workspace: components["schemas"]["WorkspaceDto"];
        };
        SandboxListDto: {
            data: components["schemas"]["SandboxDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        ScalingOverrideDto: {
            /** @description Seconds without requests before the last instance is removed; only with `min_replicas: 0`; default 600 */
            idle_seconds?: number;
            /** @description Maximum number of instances, if their number follows the load */
            max_replicas?: number;
            /** @description Minimum number of instances; 0 = scale to zero when no requests arrive */
            min_replicas?: number;
            /** @description Seconds that the load must stay low before one instance is removed; default 300 */
            scale_down_after_seconds?: number;
            /** @description Intended number of requests in flight per instance. If omitted, the number of instances does not follow the load */
            target_in_flight?: number;
        };
        ScalingOverrideInputDto: {
            /** @description Seconds without requests before the last instance is removed; only with `min_replicas: 0`; default 600 */
            idle_seconds?: number | null;
            /** @description Maximum number of instances, if their number follows the load */
            max_replicas?: number | null;
            /** @description Minimum number of instances; 0 = scale to zero when no requests arrive */
            min_replicas?: number | null;
            /** @description Seconds that the load must stay low before one instance is removed; default 300 */
            scale_down_after_seconds?: number | null;
            /** @description Intended number of requests in flight per instance. If omitted, the number of instances does not follow the load */
            target_in_flight?: number | null;
        };
        ScalingPatchDto: {
            /** @description Seconds without requests before the last instance is removed; only with `min_replicas: 0`; default 600 */
            idle_seconds?: number | null;
            /** @description Maximum number of instances, if their number follows the load */
            max_replicas?: number | null;
            /** @description Minimum number of instances; 0 = scale to zero when no requests arrive */
            min_replicas?: number | null;
            /** @description Seconds that the load must stay low before one instance is removed; default 300 */
            scale_down_after_seconds?: number | null;
            /** @description Intended number of requests in flight per instance. If omitted, the number of instances does not follow the load */
            target_in_flight?: number | null;
        };
        ScalingSpecDto: {
            /** @description Seconds without requests before the last instance is removed; only with `min_replicas: 0`; default 600 */
            idle_seconds?: number;
            /** @description Maximum number of instances, if their number follows the load */
            max_replicas?: number;
            /**
             * @description Minimum number of instances; 0 = scale to zero when no requests arrive
             * @default 1
             */
            min_replicas?: number;
            /** @description Seconds that the load must stay low before one instance is removed; default 300 */
            scale_down_after_seconds?: number;
            /** @description Intended number of requests in flight per instance. If omitted, the number of instances does not follow the load */
            target_in_flight?: number;
        };
        ScalingSpecInputDto: {
            /** @description Seconds without requests before the last instance is removed; only with `min_replicas: 0`; default 600 */
            idle_seconds?: number | null;
            /** @description Maximum number of instances, if their number follows the load */
            max_replicas?: number | null;
            /**
             * @description Minimum number of instances; 0 = scale to zero when no requests arrive
             * @default 1
             */
            min_replicas?: number | null;
            /** @description Seconds that the load must stay low before one instance is removed; default 300 */
            scale_down_after_seconds?: number | null;
            /** @description Intended number of requests in flight per instance. If omitted, the number of instances does not follow the load */
            target_in_flight?: number | null;
        };
        SendWebhookEventDto: {
            /**
             * @description Deployment whose event is sent
             * @example chat
             */
            deployment: string;
            /** @description `sequence` of the event */
            sequence: number;
        };
        SetConsoleAccessDto: {
            /** @description True grants access, false revokes it. */
            access: boolean;
            /**
             * @description Unchanged if omitted.
             * @example Ada Lovelace
             */
            display_name?: string | null;
            /**
             * @description Id of the organization: `org_id` in the provider's tokens.
             * @example org_01
             */
            external_organization_id: string;
            /**
             * @description Id of the user: `sub` in the provider's tokens.
             * @example user_01
             */
            external_user_id: string;
            /**
             * @description The configured hosted identity provider.
             * @enum {string}
             */
            provider: "oidc";
            /** @description At least one to grant access; ignored when access is revoked. Each scope includes the lower ones. Duplicates are removed. */
            scopes?: ("viewer" | "operator" | "admin")[] | null;
        };
        SetPolicyDto: {
            /** @description Evidence that is required before any conclusion. Default: `{"min_samples":50,"min_duration_seconds":1800,"max_age_seconds":604800,"confidence":0.95}` */
            evidence?: components["schemas"]["EvidenceInputDto"] | null;
            /** @description Limits of what plans may change, add and cost. Default: `{"max_parallel":1,"max_traffic_percent":5,"period":"month"}` */
            experiment_budget?: components["schemas"]["ExperimentBudgetInputDto"] | null;
            /**
             * @description `observe` only reports findings as events; `recommend` also proposes plans. The autopilot never executes a plan
             * @default recommend
             * @enum {string|null}
             */
            mode?: "off" | "observe" | "recommend" | null;
            /** @description Metric to improve while all SLOs hold. The autopilot proposes a change for it only if the gain is certain, and at least `promotion.min_gain_percent` */
            objective?: components["schemas"]["ObjectiveDto"] | null;
            /** @description Rules by which a plan becomes a rollout. Default: `{"approvals_required":1,"prevent_self_approval":true,"require_hosted_identity":false,"max_step_percent":25,"cooldown_seconds":86400,"plan_ttl_seconds":604800,"min_gain_percent":5,"outcome_window_seconds":86400}` */
            promotion?: components["schemas"]["PromotionInputDto"] | null;
            /** @description Reliability that no plan may put at risk. Default: `{"min_replicas":1,"spare_replicas":0,"right_size_after_seconds":604800,"freeze_windows":[]}` */
            reliability?: components["schemas"]["ReliabilityInputDto"] | null;
            /**
             * @description Service level objectives that must be met; each metric and stat only once. The diagnosis judges each of them, and so does the gate of a plan's rollout
             * @default []
             */
            slos?: components["schemas"]["SloInputDto"][] | null;
            /** @description Expected use of the deployment. Sizing uses the larger of declared and observed load, and the diagnosis shows both */
            workload?: components["schemas"]["WorkloadInputDto"] | null;
        };
        SetRouteDto: {
            /** @description If omitted, `targets` resets it to its default and `revision` keeps it. */
            affinity?: components["schemas"]["RouteAffinityInputDto"] | null;
            reason?: string | null;
            /** @description Revision that gets all traffic; the affinity stays unchanged. Send either this or `targets`. */
            revision?: string | null;
            /** @description The complete route; the weights must sum to 100. Send either this or `revision`. */
            targets?: components["schemas"]["RouteTargetDto"][] | null;
        };
        SloDiagnosisDto: {
            /**
             * @description Why a conclusion or a number is missing, for programs
             * @example never_seen
             */
            because?: string | null;
            /**
             * @description `intrinsic`: requests that are alone on an instance miss it too, so more replicas cannot help. `load_dependent`: requests at a lower load meet it. `starting`: only requests of instances that have just started miss it
             * @enum {string}
             */
            cause: "met" | "errors" | "intrinsic" | "load_dependent" | "starting" | "unknown" | (string & {});
            /** @description The statistic by load, lowest load first */
            curve: components["schemas"]["DiagnosisPointDto"][];
            /** @description Of requests that were nearly alone on an instance; null with too few of them */
            idle: components["schemas"]["DiagnosisMeasuredDto"] | null;
            /** @description The conclusion in sentences */
            message: string;
            /** @enum {string} */
            metric: "error_rate" | "client_error_rate" | "overloaded_rate" | "abandoned_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "longest_gap_ms" | "e2e_latency_ms" | "output_tokens_per_s" | "availability_percent" | (string & {});
            /** @description With `replicas.needed` instances at the peak; null if that load was never seen */
            predicted: components["schemas"]["DiagnosisIntervalDto"] | null;
            replicas: components["schemas"]["DiagnosisReplicasDto"];
            /** @enum {string} */
            stat: "avg" | "p50" | "p90" | "p95" | "p99" | "rate" | (string & {});
            /** @description Limit in the unit of the metric */
            threshold: number;
            /** @description In the window */
            value: components["schemas"]["DiagnosisMeasuredDto"] | null;
        };
        SloDto: {
            /** @enum {string} */
            metric: "error_rate" | "client_error_rate" | "overloaded_rate" | "abandoned_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "longest_gap_ms" | "e2e_latency_ms" | "output_tokens_per_s" | (string & {});
            /**
             * @description Defaults to p95 for values and to rate for counts
             * @enum {string}
             */
            stat?: "avg" | "p50" | "p90" | "p95" | "p99" | "rate" | (string & {});
            /** @description Limit in the unit of the metric, or a share between 0 and 1. It is a minimum for metrics that are better when higher, and a maximum for the others */
            threshold: number;
        };
        SloInputDto: {
            /** @enum {string} */
            metric: "error_rate" | "client_error_rate" | "overloaded_rate" | "abandoned_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "longest_gap_ms" | "e2e_latency_ms" | "output_tokens_per_s";
            /**
             * @description Defaults to p95 for values and to rate for counts
             * @enum {string|null}
             */
            stat?: "avg" | "p50" | "p90" | "p95" | "p99" | "rate" | null;
            /** @description Limit in the unit of the metric, or a share between 0 and 1. It is a minimum for metrics that are better when higher, and a maximum for the others */
            threshold: number;
        };
        StrategyDto: {
            /** @description Watches thresholds after the promotion and rolls back after a breach. Any other change of the traffic ends it. Only for canary, blue_green and immediate */
            bake?: components["schemas"]["BakeDto"];
            /** @description recreate and auto: maximum seconds that a request waits before it fails with 503; default 60 */
            hold_seconds?: number;
            /** @description Default for canary and auto: 5, 25, 50, 100; for blue_green and recreate: one step of 100. If `auto` chooses recreate, it soaks as long as the last step */
            steps?: components["schemas"]["StrategyStepDto"][];
            /**
             * @description `candidate` proves that the revision is ready and moves no traffic. `recreate` stops the previous revision before it starts the next one, for targets without capacity for both; requests wait in the meantime. `auto`: `canary` if there is capacity for both, else `recreate`
             * @enum {string}
             */
            type: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto" | (string & {});
        };
        StrategyInputDto: {
            /** @description Watches thresholds after the promotion and rolls back after a breach. Any other change of the traffic ends it. Only for canary, blue_green and immediate */
            bake?: components["schemas"]["BakeInputDto"] | null;
            /** @description recreate and auto: maximum seconds that a request waits before it fails with 503; default 60 */
            hold_seconds?: number | null;
            /** @description Default for canary and auto: 5, 25, 50, 100; for blue_green and recreate: one step of 100. If `auto` chooses recreate, it soaks as long as the last step */
            steps?: components["schemas"]["StrategyStepInputDto"][] | null;
            /**
             * @description `candidate` proves that the revision is ready and moves no traffic. `recreate` stops the previous revision before it starts the next one, for targets without capacity for both; requests wait in the meantime. `auto`: `canary` if there is capacity for both, else `recreate`
             * @enum {string}
             */
            type: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto";
        };
        StrategyPatchDto: {
            bake?: components["schemas"]["BakePatchDto"] | null;
            hold_seconds?: number | null;
            steps?: components["schemas"]["StrategyStepInputDto"][] | null;
            /** @enum {string|null} */
            type?: "candidate" | "canary" | "blue_green" | "immediate" | "recreate" | "auto" | null;
        };
        StrategyStepDto: {
            /**
             * @description Whether the rollout waits after this step until any operator continues it (POST /operations/{id}/resume)
             * @default false
             */
            pause?: boolean;
            /**
             * @description Whether the rollout waits after this step until a person other than the one who began it approves (POST /operations/{id}/promote). The policy of the deployment decides who may (`prevent_self_approval`)
             * @default false
             */
            requires_approval?: boolean;
            /** @default 180 */
            soak_seconds?: number;
            /** @description Share of the traffic that the candidate gets at this step, in percent */
            traffic_percent: number;
        };
        StrategyStepInputDto: {
            /**
             * @description Whether the rollout waits after this step until any operator continues it (POST /operations/{id}/resume)
             * @default false
             */
            pause?: boolean | null;
            /**
             * @description Whether the rollout waits after this step until a person other than the one who began it approves (POST /operations/{id}/promote). The policy of the deployment decides who may (`prevent_self_approval`)
             * @default false
             */
            requires_approval?: boolean | null;
            /** @default 180 */
            soak_seconds?: number | null;
            /** @description Share of the traffic that the candidate gets at this step, in percent */
            traffic_percent: number;
        };
        SystemDatabaseDto: {
            /** @description Duration of the queries for this response */
            latency_ms: number;
            /** Format: date-time */
            started_at: string;
            /**
             * @description Version of Postgres
             * @example 18.4
             */
            version: string;
        };
        SystemDto: {
            database: components["schemas"]["SystemDatabaseDto"] | null;
            /**
             * @description URL at which clients of models reach the gateways, without `/v1`
             * @example http://127.0.0.1:7080
             */
            gateway_url: string;
            /** @description Oldest first */
            gateways: components["schemas"]["SystemGatewayDto"][] | null;
            /**
             * @description Version of Node.js
             * @example 20.20.2
             */
            node_version: string;
            queue: components["schemas"]["SystemQueueDto"] | null;
            /** @description Retention in days. Audit entries are kept forever */
            retention_days: components["schemas"]["SystemRetentionDto"];
            /** @description Only for the operator tenant, otherwise null. The same applies to the fields below */
            schema: components["schemas"]["SystemSchemaDto"] | null;
            /**
             * Format: date-time
             * @description Start time of the api process
             */
            started_at: string;
            /**
             * @description Version of the api process
             * @example 0.1.0
             */
            version: string;
            warnings?: components["schemas"]["WarningDto"][];
            /** @description Oldest first */
            workers: components["schemas"]["SystemWorkerDto"][] | null;
        };
        SystemGatewayDto: {
            /** @description Id of one run of the process */
            id: string;
            /** @description Whether the last heartbeat is recent. Other gateways are ignored */
            is_alive: boolean;
            /** @description Number of routes that it serves */
            routes: number;
            /** @description Number of routes whose current generation it does not serve yet */
            routes_behind: number;
            /**
             * Format: date-time
             * @description Time of the last heartbeat
             */
            seen_at: string;
            /** Format: date-time */
            started_at: string;
            /**
             * Format: date-time
             * @description Time up to which its request statistics are stored
             */
            statistics_until: string | null;
        };
        SystemOperationsDto: {
            /** @description Operations that continue by themselves later */
            asleep: number;
            /** @description Operations that a worker can claim */
            due: number;
            /** @description Waiting time of the oldest due operation. More than a few seconds means that workers are missing */
            oldest_due_seconds: number | null;
            /** @description Operations that a worker is running */
            running: number;
        };
        SystemOutboxDto: {
            /** @description Waiting time of the oldest due wake-up */
            oldest_seconds: number | null;
            /** @description Due wake-ups that the queue has not received yet */
            waiting: number;
        };
        SystemQueueDto: {
            /** @enum {string} */
            backend: "postgres" | "redis" | (string & {});
            operations: components["schemas"]["SystemOperationsDto"];
            outbox: components["schemas"]["SystemOutboxDto"];
        };
        SystemRetentionDto: {
            /** @description Expired context passports */
            context_passports: number;
            /** @description Minimum for events. They are kept longer while an operation, a subscription or a webhook needs them */
            events: number;
            /** @description Idempotency-Keys of mutations without an operation */
            idempotency_keys: number;
            /** @description Ended operations and their Idempotency-Keys */
            operations: number;
            /** @description Request statistics, from which metrics and gates are computed */
            request_statistics: number;
            /** @description Usage per token */
            request_usage: number;
            /** @description Tokens that were revoked or have expired */
            tokens: number;
        };
        SystemSchemaDto: {
            /** @description Number of applied migrations. A process with a newer migration refuses to start */
            applied: number;
            /** @description Newest applied migration */
            newest: string;
        };
        SystemWorkerDto: {
            /** @description Id of one run of the process */
            id: string;
            /** @description Whether the last heartbeat is recent. A worker without heartbeats is removed after a few minutes */
            is_alive: boolean;
            /**
             * Format: date-time
             * @description Time of the last heartbeat; workers send one every 5 seconds
             */
            seen_at: string;
            /** Format: date-time */
            started_at: string;
            /** @example 0.1.0 */
            version: string;
        };
        TargetCapacityDto: {
            /** @description Number of instances that all tenants together need on the target now */
            in_use: number;
            /** @description Largest number of instances that the target runs; null means no limit */
            max_instances: number | null;
            /** @description Largest number of instances that your tenant may use of a target that tenants share; null means no limit of its own */
            share: number | null;
        };
        TargetConditionDto: {
            /** @description Description of the problem */
            message: string;
            /**
             * @description Kind of problem. `unknown_units`: units of this installation that belong to no target and no instance still exist; see `unknown_units`. `not_configured`: instances need a target that the configuration no longer names. `degraded`: instances may fail to start, to stop or to be checked there; running instances keep running.
             * @enum {string}
             */
            type: "devices_unknown" | "degraded" | "unknown_units" | "not_configured" | (string & {});
        };
        TargetDeviceDto: {
            /** @description MiB of it in use by programs that Slipway did not start */
            foreign_mb: number;
            /** @description Users of the device; empty if it is free */
            holders: components["schemas"]["TargetDeviceHolderDto"][];
            /** @description Index by PCI bus; may change after a reboot */
            index: number;
            /** @description Memory in MiB; null if the host does not report it */
            memory_mb: number | null;
            /** @example NVIDIA L4 */
            name: string;
            /** @description Reason why nothing starts on the device: its driver lost it, or the memory of its last user is still not free */
            problem: string | null;
            /** @description MiB in use at the last check */
            used_mb: number | null;
            /**
             * @description Stable across reboots
             * @example GPU-5c89852c-1d5c-4d26-a2f1-2a3f9a5d8f4e
             */
            uuid: string;
        };
        TargetDeviceHolderDto: {
            /** @description Whether it has ended and only its memory is not free yet */
            ending: boolean;
            /** @description MiB that it uses of a shared device; null means the entire device */
            memory_mb: number | null;
            /**
             * @description Revision that uses the device; null if it belongs to another tenant
             * @example chat-00003
             */
            revision: string | null;
        };
        TargetDto: {
            capacity: components["schemas"]["TargetCapacityDto"];
            /** @description Problems of the target; empty if there are none */
            conditions: components["schemas"]["TargetConditionDto"][];
            /** @description Accelerators of its host at the last check by the worker */
            devices: components["schemas"]["TargetDeviceDto"][];
            /** @description Engines of the target; empty if it adopts servers that already run */
            engines: components["schemas"]["TargetEngineDto"][];
            /**
             * @description `process` starts engines on its host, `kubernetes` in a cluster, `endpoint` adopts servers that already run
             * @example process
             */
            kind: string;
            /**
             * @description Name for `runtime.target` of a revision
             * @example local
             */
            name: string;
            /** @description Whether the target was removed from the operator's configuration. It is listed while instances are needed on it: running instances keep running, and no new ones start. */
            removed: boolean;
            /**
             * @description `ok` if the target has no conditions
             * @enum {string}
             */
            status: "ok" | "degraded" | (string & {});
            /** @description Units of this installation that the driver of the target found and that belong to no target and no instance, at most 20 groups; only visible to the operator tenant. Slipway does not remove them. */
            unknown_units: components["schemas"]["UnknownUnitsDto"][];
        };
        TargetEngineDto: {
            /**
             * @description Names that `runtime.args` may set
             * @example [
             *       "ttft_ms"
             *     ]
             */
            args: string[];
            /** @description Declarations of these arguments */
            declared?: components["schemas"]["EngineArgDto"][];
            /** @description Names that `runtime.env` may set */
            env: string[];
            /**
             * @description Name for `runtime.engine` of a revision
             * @example sim
             */
            name: string;
            /**
             * @description Built-in template that the engine extends
             * @example llamacpp@1
             */
            template?: string;
        };
        TargetListDto: {
            /** @description Configuration in use, to compare api replicas */
            configuration: components["schemas"]["OperatorConfigurationDto"];
            data: components["schemas"]["TargetDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        TenantDto: {
            /** Format: date-time */
            created_at: string;
            /** @description Organizations (`org_id` in the hosted provider's tokens) whose users can get access to the tenant. An organization without a tenant belongs to the operator tenant. If several tenants have the same organization, each of them can map its users. */
            external_organization_ids: string[];
            id: string;
            name: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        TenantListDto: {
            data: components["schemas"]["TenantDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        TokenCountsDto: {
            p50?: number;
            p95?: number;
        };
        TokenCountsInputDto: {
            p50?: number | null;
            p95?: number | null;
        };
        TokenDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that created it.
             * @example token:tok_boot
             */
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            id: string;
            /**
             * Format: date-time
             * @description Updated at most once a minute while the token is in use.
             */
            last_used_at: string | null;
            /** @description Owners of the tokens that this token descends from, oldest first. */
            minters: components["schemas"]["OwnerDto"][];
            name: string;
            owner: components["schemas"]["OwnerDto"];
            /** @description Id of the token that a rotation put in its place. Both have the same name, and this one is usable until `expires_at`. */
            replaced_by: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            revoked_by: string | null;
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            /** @enum {string} */
            state: "active" | "revoked" | "expired" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        TokenListDto: {
            data: components["schemas"]["TokenDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        UnknownUnitsDto: {
            /** @description Command that removes them */
            command: string;
            /** @description Number of units */
            count: number;
            /**
             * @description Where they are
             * @example namespace models
             */
            location: string;
            /** @description Names of the first units */
            names: string[];
            /** @description Number of units that run */
            running: number;
            /**
             * @description Name of the target that made them
             * @example gpu-old
             */
            target: string;
        };
        UpdateDeploymentDto: {
            /** @description Gate of rollouts that omit `analysis`. Rollouts without a soak, such as that of a first revision, skip it. Without it, guards judge a soak. */
            default_analysis?: components["schemas"]["AnalysisPatchDto"] | null;
            /** @description Strategy of rollouts that omit `strategy` */
            default_strategy?: components["schemas"]["StrategyPatchDto"] | null;
            description?: string | null;
            display_name?: string | null;
            /** @description Seconds that an instance without traffic waits for its requests in flight before it is stopped. Without requests it stops at once. */
            drain_seconds?: number | null;
            /** @example production */
            environment?: string | null;
            /**
             * @description Merged key by key; null removes a key. At most 64 labels after the merge
             * @example {
             *       "team": "search",
             *       "trial": null
             *     }
             */
            labels?: {
                [key: string]: string | null;
            } | null;
            /** @description Which URLs of media (`image_url`, `input_audio`, `file` and their like) its inference requests may name. The gateways refuse others with 400 `media_url_refused`. A published slug has a rule of its own in addition. */
            media_urls?: components["schemas"]["MediaUrlsPatchDto"] | null;
            /** @description Cannot change, because clients send it as `model` */
            name?: string | null;
            /** @description Changes that the deployment is protected from. Lowering it requires the scope admin. A rollback is always allowed. */
            protection?: components["schemas"]["ProtectionPatchDto"] | null;
            /** @description Number of unused revisions to keep. Revisions that a route, binding or rollback refers to are always kept. */
            revision_history_limit?: number | null;
            /** @description Overrides single fields of the `scaling` of its revisions. Omitted fields keep the value of the revision. */
            scaling?: components["schemas"]["ScalingPatchDto"] | null;
        };
        UpdateProductDto: {
            context_length?: number | null;
            description?: string | null;
            /** @description Defaults to the slug. */
            display_name?: string | null;
            max_output_tokens?: number | null;
            modalities?: ("text" | "image" | "audio" | "video" | "embedding" | "file")[] | null;
            pricing?: components["schemas"]["PricingPatchDto"] | null;
            /** @description Cannot change, because clients send it as `model` */
            slug?: string | null;
            /**
             * @example [
             *       "temperature",
             *       "tools"
             *     ]
             */
            supported_parameters?: string[] | null;
        };
        UpdateSandboxDto: {
            /**
             * Format: date-time
             * @description Time at which the sandbox and its files are deleted. `null` means never.
             */
            expires_at?: string | null;
            /**
             * @description Merged key by key; null removes a key. At most 64 labels after the merge.
             * @example {
             *       "team": "search",
             *       "trial": null
             *     }
             */
            labels?: {
                [key: string]: string | null;
            } | null;
            workspace?: components["schemas"]["WorkspacePatchDto"] | null;
        };
        UpdateTenantDto: {
            /**
             * @description Organizations (`org_id` in the hosted provider's tokens) whose users can get access to the tenant. An organization without a tenant belongs to the operator tenant. If several tenants have the same organization, each of them can map its users. The list replaces the previous one. Users of a removed organization lose access from their next request.
             * @example [
             *       "org_01"
             *     ]
             */
            external_organization_ids: string[];
        };
        UpdateWebhookDto: {
            /**
             * @description Deployments whose events are sent. Empty means all events of the tenant.
             * @example [
             *       "chat"
             *     ]
             */
            deployments?: string[] | null;
            /** @description Free text */
            description?: string | null;
            /**
             * @description Types of events to send: exact types, or all of a kind such as `rollout.*`. Empty means all.
             * @example [
             *       "rollout.*",
             *       "route.updated"
             *     ]
             */
            event_types?: ("autopilot.*" | "autopilot.diagnosed" | "autopilot.evidence_insufficient" | "autopilot.quiet" | "autopilot.slo_missed" | "deployment.*" | "deployment.created" | "deployment.drain_ended" | "deployment.scaled" | "deployment.updated" | "instance.*" | "instance.abandoned" | "instance.crashed" | "instance.drifted" | "instance.moved" | "instance.ready" | "instance.unhealthy" | "operation.*" | "operation.paused" | "operation.promoted" | "operation.resumed" | "operation.status_changed" | "plan.*" | "plan.approved" | "plan.created" | "plan.expired" | "plan.outcome_recorded" | "plan.rejected" | "plan.superseded" | "policy.*" | "policy.updated" | "restart.*" | "restart.completed" | "restart.started" | "revision.*" | "revision.created" | "revision.failed" | "revision.misconfigured" | "revision.ready" | "revision.retired" | "rollback.*" | "rollback.completed" | "rollback.started" | "rollout.*" | "rollout.analysis_completed" | "rollout.paused" | "rollout.promoted" | "rollout.reverted" | "rollout.started" | "rollout.step_advanced" | "route.*" | "route.updated" | "target_binding.*" | "target_binding.misconfigured" | "webhook.*" | "webhook.test")[] | null;
            /**
             * @description `disabled` cancels the pending deliveries, and nothing more is sent. `active` begins again with the next event.
             * @enum {string|null}
             */
            state?: "active" | "disabled" | null;
            /**
             * @description https URL with a public address, or a URL that the operator allows for webhooks. Redirects are not followed.
             * @example https://hooks.example.com/slipway
             */
            url?: string | null;
        };
        WarningDto: {
            /**
             * @description `unknown_field`: the field was ignored; `unknown_parameter`: the query parameter was ignored; `no_route`: the candidate will receive no traffic, because the deployment has no route; `idempotency_key_ignored`: the operation does not accept `Idempotency-Key`; `secret_omitted`: the response repeats an earlier one, and only that one had the secret.
             * @enum {string}
             */
            code: "unknown_field" | "unknown_parameter" | "no_route" | "idempotency_key_ignored" | "secret_omitted" | (string & {});
            /** @description Dotted path of the field, or name of the parameter or header, that the warning is about. */
            field: string;
            /**
             * @description Text for people: the recommended next step.
             * @example did you mean `strategy`?
             */
            message?: string;
        };
        WebhookDeliveryDto: {
            /** @description Number of attempts that have ended. */
            attempts: number;
            /** Format: date-time */
            completed_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Milliseconds that the last attempt took, with the whole response. */
            duration_ms: number | null;
            /** @description Reason why the last attempt failed. `response_cut` does not make it fail: the event was accepted, but the response did not end within 10 s, or broke off. */
            error: ("http_status" | "redirect" | "timeout" | "connection_failed" | "tls_failed" | "invalid_response" | "address_refused" | "event_expired" | "response_cut" | (string & {})) | null;
            /** @description Id of the event; also the `webhook-id` header of every attempt. */
            event_id: string;
            /**
             * @description `webhook.test` is a test.
             * @example rollout.promoted
             */
            event_type: string;
            /** Format: date-time */
            last_attempt_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            /** @description HTTP status of the last attempt; null if no response came. */
            response_status: number | null;
            /**
             * @description `cancelled`: the webhook was disabled before the event was sent. `skipped`: by a request; later events follow.
             * @enum {string}
             */
            status: "pending" | "succeeded" | "failed" | "cancelled" | "skipped" | (string & {});
            warnings?: components["schemas"]["WarningDto"][];
        };
        WebhookDeliveryListDto: {
            data: components["schemas"]["WebhookDeliveryDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        WebhookDto: {
            /** Format: date-time */
            created_at: string;
            /**
             * @description Type and id of the actor that created it.
             * @example token:tok_boot
             */
            created_by: string;
            deployments: string[];
            description: string | null;
            /** Format: date-time */
            disabled_at: string | null;
            /** @description `gone`: the receiver returned 410. `requested`: by a change of the webhook. */
            disabled_reason: ("gone" | "requested" | (string & {})) | null;
            /** @description Changes with every change of the webhook; send it as `If-Match`. */
            etag: string;
            event_types: string[];
            id: string;
            /**
             * Format: date-time
             * @description The receiver returned 429 or 503 with `Retry-After`: nothing is sent to it before this time.
             */
            paused_until: string | null;
            /**
             * Format: date-time
             * @description After a rotation: until this time requests also carry a signature of the previous secret.
             */
            previous_secret_until: string | null;
            /** @enum {string} */
            state: "active" | "disabled" | (string & {});
            url: string;
            warnings?: components["schemas"]["WarningDto"][];
        };
        WebhookListDto: {
            data: components["schemas"]["WebhookDto"][];
            next_cursor: string | null;
            warnings?: components["schemas"]["WarningDto"][];
        };
        WhoAmIDto: {
            actor: components["schemas"]["ActorDto"];
            /** @description Owner of the credential. Approvals are counted by owner. */
            owner: components["schemas"]["OwnerDto"];
            /** @description All scopes of the caller, including implied ones. */
            scopes: ("viewer" | "operator" | "admin" | (string & {}))[];
            tenant: components["schemas"]["WhoTenantDto"];
            warnings?: components["schemas"]["WarningDto"][];
        };
        WhoTenantDto: {
            id: string;
            /** @description Whether this is the tenant of the operator. */
            is_operator: boolean;
            name: string;
        };
        WorkloadDto: {
            /** @description Requests in flight at the same time, on all instances together. Sizing uses the larger of this and the observed number */
            concurrency?: number;
            /** @description Tokens of a prompt. If the observed p95 differs by more than 25 %, the diagnosis reports that the workload has moved */
            input_tokens?: components["schemas"]["TokenCountsDto"];
            /** @description Tokens of an answer. If the observed p95 differs by more than 25 %, the diagnosis reports that the workload has moved */
            output_tokens?: components["schemas"]["TokenCountsDto"];
            /**
             * @description Kind of use. It gives typical values for what the workload does not declare
             * @enum {string}
             */
            profile?: "chat" | "rag" | "code" | "agent" | "batch" | "embedding" | (string & {});
            /** @description Requests per second at the peak. Sizing uses the larger of this and the observed peak, so that capacity can be added before the load arrives */
            request_rate?: number;
        };
        WorkloadInputDto: {
            /** @description Requests in flight at the same time, on all instances together. Sizing uses the larger of this and the observed number */
            concurrency?: number | null;
            /** @description Tokens of a prompt. If the observed p95 differs by more than 25 %, the diagnosis reports that the workload has moved */
            input_tokens?: components["schemas"]["TokenCountsInputDto"] | null;
            /** @description Tokens of an answer. If the observed p95 differs by more than 25 %, the diagnosis reports that the workload has moved */
            output_tokens?: components["schemas"]["TokenCountsInputDto"] | null;
            /**
             * @description Kind of use. It gives typical values for what the workload does not declare
             * @enum {string|null}
             */
            profile?: "chat" | "rag" | "code" | "agent" | "batch" | "embedding" | null;
            /** @description Requests per second at the peak. Sizing uses the larger of this and the observed peak, so that capacity can be added before the load arrives */
            request_rate?: number | null;
        };
        WorkspaceDto: {
            bytes_limit: number;
            bytes_used: number;
            file_count: number;
        };
        WorkspacePatchDto: {
            /** @description At least the bytes in use. `null` sets the highest value, which the service defines. */
            bytes_limit?: number | null;
        };
        WorkspaceRequestDto: {
            /** @description Maximum size of all files together, in bytes. The service sets the highest value, which is also the default. */
            bytes_limit?: number | null;
        };
        ObjectiveAnswerDto: {
            /**
             * @description The better direction of the metric: `maximize` for `output_tokens_per_s`, and `minimize` for all others. The other direction is refused
             * @enum {string}
             */
            direction: "minimize" | "maximize" | (string & {});
            /**
             * @description Metric to improve: one of the gateways, or `gpu_hours_per_mtok` and `cost_per_mtok`, the device hours and the cost of a million output tokens. `cost_per_mtok` needs the operator's price of the accelerator
             * @enum {string}
             */
            metric: "error_rate" | "client_error_rate" | "overloaded_rate" | "abandoned_rate" | "upstream_fault_rate" | "ttft_ms" | "itl_ms" | "longest_gap_ms" | "e2e_latency_ms" | "output_tokens_per_s" | "gpu_hours_per_mtok" | "cost_per_mtok" | (string & {});
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
                /** @description Only products in this state */
                state?: "draft" | "active" | "deprecated" | "retired";
                /** @description Text in the slug or the display name, in upper or lower case */
                q?: string;
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["ProductPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createModelApiProduct: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
    getModelApiProduct: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The model API product, by id.
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
                    "application/json": components["schemas"]["ProductDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteModelApiProduct: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The model API product, by id.
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
                    "application/json": components["schemas"]["DeletedProductDto"];
                };
            };
        };
    };
    updateModelApiProduct: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The model API product, by id.
                 * @example prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Acme Chat",
                 *       "pricing": {
                 *         "currency": "USD",
                 *         "input_per_mtok": 0.1,
                 *         "output_per_mtok": 0.4
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateProductDto"];
                /**
                 * @example {
                 *       "display_name": "Acme Chat",
                 *       "pricing": {
                 *         "currency": "USD",
                 *         "input_per_mtok": 0.1,
                 *         "output_per_mtok": 0.4
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["UpdateProductDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
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
                /** @description Only publications in this state */
                state?: "published" | "superseded" | "withdrawn";
                /** @description Only publications of the product with this id */
                product_id?: string;
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["PublicationPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createModelApiPublication: {
        parameters: {
            query?: {
                /** @description Run every check, write nothing, and return what would happen. */
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
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
                /** @description Only bindings in this state */
                state?: "unqualified" | "qualified" | "suspended" | "retired";
                /** @description Only bindings of the product with this id */
                product_id?: string;
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["BindingPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteTargetBinding: {
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
                    "application/json": components["schemas"]["DeletedBindingDto"];
                };
            };
        };
    };
    qualifyTargetBinding: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"];
                };
            };
            /** @description Accepted; the work continues after this response. */
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
                /** @description Only rows with this action, or with all actions that begin with `rollout.` for `rollout.*`. */
                action?: "console_access.*" | "console_access.delete" | "console_access.grant" | "console_access.revoke" | "context_passport.*" | "context_passport.create" | "context_passport.delete" | "context_passport.revoke" | "deployment.*" | "deployment.create" | "deployment.delete" | "deployment.end_drain" | "deployment.restart" | "deployment.unprotect" | "deployment.update" | "logs.*" | "logs.read" | "model_api_product.*" | "model_api_product.create" | "model_api_product.delete" | "model_api_product.update" | "operation.*" | "operation.cancel" | "operation.pause" | "operation.promote" | "operation.resume" | "operation.retry" | "plan.*" | "plan.approve" | "plan.create" | "plan.list" | "plan.read" | "plan.reject" | "policy.*" | "policy.set" | "publication.*" | "publication.create" | "publication.withdraw" | "rollback.*" | "rollback.create" | "rollout.*" | "rollout.create" | "route.*" | "route.set" | "sandbox.*" | "sandbox.create" | "sandbox.delete" | "sandbox.expire" | "sandbox.update" | "sandbox_file.*" | "sandbox_file.delete" | "sandbox_file.put" | "sandbox_reference.*" | "sandbox_reference.create" | "sandbox_reference.delete" | "sandbox_reference.revoke" | "secret.*" | "secret.used" | "target_binding.*" | "target_binding.create" | "target_binding.delete" | "target_binding.qualify" | "tenant.*" | "tenant.create" | "tenant.update" | "token.*" | "token.create" | "token.revoke" | "token.rotate" | "webhook.*" | "webhook.create" | "webhook.delete" | "webhook.disable" | "webhook.enable" | "webhook.redeliver" | "webhook.rotate_secret" | "webhook.skip" | "webhook.test" | "webhook.update";
                /** @description Only rows of this actor, by type and id, such as `token:tok_boot`. */
                actor?: string;
                /** @description Only rows about this type of resource. */
                resource_type?: "console_access" | "context_passport" | "deployment" | "instance" | "model_api_product" | "operation" | "plan" | "publication" | "sandbox" | "sandbox_reference" | "secret" | "target_binding" | "tenant" | "token" | "webhook";
                /** @description Only rows about resources with this name, such as `chat`. */
                resource_name?: string;
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["AuditPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getAutopilotCalibration: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["CalibrationDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["PlanPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createAutopilotPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
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
            /** @description The response still has this ETag. */
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
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
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
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
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
                /** @description Only identities with this status */
                status?: "active" | "revoked";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["ConsoleAccessListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
    deleteConsoleAccess: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The mapping of a hosted identity, by id.
                 * @example cac_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
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
                    "application/json": components["schemas"]["DeletedConsoleAccessDto"];
                };
            };
        };
    };
    listContextPassports: {
        parameters: {
            query?: {
                /** @description Only sessions of this deployment or model API, by the name or slug that their requests send */
                deployment?: string;
                /** @description Only passports in this state */
                state?: "active" | "expired" | "revoked";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["PassportPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createContextPassport: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The passport, by id: `x-context-passport` of an inference response.
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    revokeContextPassport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The passport, by id: `x-context-passport` of an inference response.
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
    deleteContextPassport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The passport, by id: `x-context-passport` of an inference response.
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
                    "application/json": components["schemas"]["DeletedPassportDto"];
                };
            };
        };
    };
    listDeployments: {
        parameters: {
            query?: {
                /** @description State that the deployments must have */
                state?: "creating" | "active" | "progressing" | "paused" | "degraded" | "failed" | "deleting";
                /** @description Text in the name, the display name, the description or the environment, in upper or lower case */
                q?: string;
                /** @description Environment that the deployments must have */
                environment?: string;
                /** @description Label that the deployments must have: `key=value` or `key`, such as `team=search`. Separate several with commas; all must match. */
                label?: string;
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
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
                /** @description Run every check, write nothing, and return what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["DeploymentDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteDeployment: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
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
            /** @description Accepted; the work continues after this response. */
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
                /** @description Run every check, write nothing, and return what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
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
    getAutopilotDiagnosis: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["DiagnosisDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getContinualOptimizationPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["PolicyDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    setContinualOptimizationPolicy: {
        parameters: {
            query?: {
                /** @description Run every check, write nothing, and return what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
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
    listContinualOptimizationPolicyVersions: {
        parameters: {
            query?: {
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["PolicyPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getContinualOptimizationPolicyVersion: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The deployment, by name.
                 * @example chat
                 */
                name: string;
                /**
                 * @description The version of the policy, by its number.
                 * @example 1
                 */
                version: string;
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    endDeploymentDrain: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
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
                    "application/json": components["schemas"]["DeploymentDto"];
                };
            };
        };
    };
    listDeploymentEvents: {
        parameters: {
            query?: {
                /** @description Only events that follow this sequence in the requested order; a stream starts after it */
                after?: number;
                /** @description Only events of this type, or of all types that begin with `rollout.` for `rollout.*` */
                type?: "autopilot.*" | "autopilot.diagnosed" | "autopilot.evidence_insufficient" | "autopilot.quiet" | "autopilot.slo_missed" | "deployment.*" | "deployment.created" | "deployment.drain_ended" | "deployment.scaled" | "deployment.updated" | "instance.*" | "instance.abandoned" | "instance.crashed" | "instance.drifted" | "instance.moved" | "instance.ready" | "instance.unhealthy" | "operation.*" | "operation.paused" | "operation.promoted" | "operation.resumed" | "operation.status_changed" | "plan.*" | "plan.approved" | "plan.created" | "plan.expired" | "plan.outcome_recorded" | "plan.rejected" | "plan.superseded" | "policy.*" | "policy.updated" | "restart.*" | "restart.completed" | "restart.started" | "revision.*" | "revision.created" | "revision.failed" | "revision.misconfigured" | "revision.ready" | "revision.retired" | "rollback.*" | "rollback.completed" | "rollback.started" | "rollout.*" | "rollout.analysis_completed" | "rollout.paused" | "rollout.promoted" | "rollout.reverted" | "rollout.started" | "rollout.step_advanced" | "route.*" | "route.updated" | "target_binding.*" | "target_binding.misconfigured" | "webhook.*" | "webhook.test";
                /** @description A stream is always ascending */
                order?: "asc" | "desc";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
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
                /** @description Id, number or name of the revision */
                revision?: string;
                /** @description Only instances in this state */
                state?: "pending" | "waiting_for_device" | "waiting_for_place" | "starting" | "ready" | "unhealthy" | "stopping" | "exited";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["InstanceListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getInstanceLogs: {
        parameters: {
            query?: {
                /** @description Number of last lines to return */
                tail?: number;
                /** @description Only output that was written at or after this time */
                since?: string;
                /** @description Only output of the last so many seconds, by the clock of the server. With `since`, the later of both times counts */
                since_seconds?: number;
                /** @description Output stream to return */
                stream?: "stdout" | "stderr" | "both";
                /** @description Return the output of the last start that has ended instead of the newest one */
                previous?: boolean;
                /** @description Keep streaming new output as `text/event-stream` */
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
                 * @description The id of one of the instances.
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
                     * @example event: stdout
                     *     data: {"at":"2026-11-30T08:00:00.000Z","text":"Server is listening on port 8000"}
                     *
                     *     event: end
                     *     data: {"reason":"complete"}
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
                /** @description Start of the range, at most 3 hours before `to`. Default: 15 minutes before `to` */
                from?: string;
                /** @description End of the range. Default: now */
                to?: string;
                /** @description Length of a step in seconds; the range has at most 360 steps. Default: the shortest common length that results in at most 120 steps */
                step?: number;
                /** @description Id, number or name of the only revision to return. Default: the newest ten that had requests */
                revision?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["DeploymentMetricsDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    restartDeployment: {
        parameters: {
            query?: {
                /** @description Run every check, write nothing, and return what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
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
                 *       "reason": "Read the new certificate"
                 *     }
                 */
                "application/json": components["schemas"]["RestartDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationEnvelopeDto"] | components["schemas"]["RehearsalDto"];
                };
            };
            /** @description Accepted; the work continues after this response. */
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
    listRevisions: {
        parameters: {
            query?: {
                /** @description Only revisions in this state */
                state?: "pending" | "provisioning" | "ready" | "active" | "standby" | "draining" | "retired" | "failed";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
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
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getRevision: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
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
                /** @description Run every check, write nothing, and return what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
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
                 *       "reason": "Worse responses"
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
            /** @description Accepted; the work continues after this response. */
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
                /** @description Run every check, write nothing, and return what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
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
            /** @description Accepted; the work continues after this response. */
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
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
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
                /** @description Run every check, write nothing, and return what would happen. */
                validate_only?: boolean;
            };
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
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
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["CatalogPageDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getModelApiCatalogEntry: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listOperations: {
        parameters: {
            query?: {
                /** @description Only operations with this status */
                status?: "pending" | "running" | "waiting" | "cancelling" | "succeeded" | "failed" | "cancelled";
                /** @description Only operations that wait for this */
                waiting_for?: "soak" | "traffic" | "capacity" | "approval" | "decision" | "resume";
                /** @description Only operations of this kind */
                kind?: "rollout" | "rollback" | "bake" | "restart" | "delete_deployment" | "qualify_target_binding" | "sandbox_file_push";
                /** @description Only operations on the resource with this name, such as `chat` */
                resource_name?: string;
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
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
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
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
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
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
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "The responses are worse."
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
                /** @description Only events that follow this sequence in the requested order; a stream starts after it */
                after?: number;
                /** @description Only events of this type, or of all types that begin with `rollout.` for `rollout.*` */
                type?: "autopilot.*" | "autopilot.diagnosed" | "autopilot.evidence_insufficient" | "autopilot.quiet" | "autopilot.slo_missed" | "deployment.*" | "deployment.created" | "deployment.drain_ended" | "deployment.scaled" | "deployment.updated" | "instance.*" | "instance.abandoned" | "instance.crashed" | "instance.drifted" | "instance.moved" | "instance.ready" | "instance.unhealthy" | "operation.*" | "operation.paused" | "operation.promoted" | "operation.resumed" | "operation.status_changed" | "plan.*" | "plan.approved" | "plan.created" | "plan.expired" | "plan.outcome_recorded" | "plan.rejected" | "plan.superseded" | "policy.*" | "policy.updated" | "restart.*" | "restart.completed" | "restart.started" | "revision.*" | "revision.created" | "revision.failed" | "revision.misconfigured" | "revision.ready" | "revision.retired" | "rollback.*" | "rollback.completed" | "rollback.started" | "rollout.*" | "rollout.analysis_completed" | "rollout.paused" | "rollout.promoted" | "rollout.reverted" | "rollout.started" | "rollout.step_advanced" | "route.*" | "route.updated" | "target_binding.*" | "target_binding.misconfigured" | "webhook.*" | "webhook.test";
                /** @description A stream is always ascending */
                order?: "asc" | "desc";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    pauseOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
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
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "Waiting for the support team."
                 *     }
                 */
                "application/json": components["schemas"]["PauseOperationDto"];
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
    promoteOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
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
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "The metrics look good.",
                 *       "to": "next"
                 *     }
                 */
                "application/json": components["schemas"]["PromoteOperationDto"];
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
    resumeOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
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
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "The support team has answered."
                 *     }
                 */
                "application/json": components["schemas"]["ResumeOperationDto"];
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
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
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
                /** @description Only sandboxes in this state */
                state?: "running" | "paused" | "stopped" | "archived" | "error" | "unknown";
                /** @description Only sandboxes of this provider */
                provider?: "local" | "e2b" | "daytona" | "custom";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["SandboxListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createSandbox: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
                /** @description Only references in this state */
                state?: "active" | "revoked";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["ReferenceListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createSandboxReference: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
    deleteSandboxReference: {
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
                    "application/json": components["schemas"]["DeletedReferenceDto"];
                };
            };
        };
    };
    getSandbox: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteSandbox: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
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
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSandboxDto"];
                };
            };
        };
    };
    updateSandbox: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
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
                 *       "expires_at": null,
                 *       "labels": {
                 *         "purpose": "trial"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateSandboxDto"];
                /**
                 * @example {
                 *       "expires_at": null,
                 *       "labels": {
                 *         "purpose": "trial"
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["UpdateSandboxDto"];
            };
        };
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
                /** @description Download this file instead of listing all files. */
                path?: string;
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
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
        requestBody?: never;
        responses: {
            /**
             * @description Done.
             *
             *     The list of files, or with `path` the content of the file.
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
            /** @description The response still has this ETag. */
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
                /** @description Path of the file. With application/json it may be in the body. */
                path?: string;
                /** @description Permission bits, octal. */
                mode?: string;
                /** @description SHA-256 of the file, hex. */
                sha256?: string;
                /** @description Whether an existing file may be replaced. */
                overwrite?: boolean;
            };
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
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
    deleteSandboxFile: {
        parameters: {
            query: {
                /** @description Path of the file. */
                path: string;
            };
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
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
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedFileDto"];
                };
            };
        };
    };
    getSystem: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["SystemDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listTargets: {
        parameters: {
            query?: {
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["TargetListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listTenants: {
        parameters: {
            query?: {
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["TenantListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
                /** @description Only tokens in this state */
                state?: "active" | "revoked" | "expired";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["TokenListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
    rotateToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The token, by id; never its secret.
                 * @example tok_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 3600
                 *     }
                 */
                "application/json": components["schemas"]["RotateTokenDto"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedTokenDto"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Only webhooks in this state */
                state?: "active" | "disabled";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["WebhookListDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
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
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
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
                    "application/json": components["schemas"]["WebhookDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
            };
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
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it. */
                "If-Match"?: string;
                /** @description `*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "description": "The chat of the team",
                 *       "event_types": [
                 *         "rollout.*"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateWebhookDto"];
                /**
                 * @example {
                 *       "description": "The chat of the team",
                 *       "event_types": [
                 *         "rollout.*"
                 *       ]
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["UpdateWebhookDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDto"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Only deliveries with this status */
                status?: "pending" | "succeeded" | "failed" | "cancelled" | "skipped";
                /** @description Only deliveries of events of this type, or of a kind such as `rollout.*` */
                event_type?: "autopilot.*" | "autopilot.diagnosed" | "autopilot.evidence_insufficient" | "autopilot.quiet" | "autopilot.slo_missed" | "deployment.*" | "deployment.created" | "deployment.drain_ended" | "deployment.scaled" | "deployment.updated" | "instance.*" | "instance.abandoned" | "instance.crashed" | "instance.drifted" | "instance.moved" | "instance.ready" | "instance.unhealthy" | "operation.*" | "operation.paused" | "operation.promoted" | "operation.resumed" | "operation.status_changed" | "plan.*" | "plan.approved" | "plan.created" | "plan.expired" | "plan.outcome_recorded" | "plan.rejected" | "plan.superseded" | "policy.*" | "policy.updated" | "restart.*" | "restart.completed" | "restart.started" | "revision.*" | "revision.created" | "revision.failed" | "revision.misconfigured" | "revision.ready" | "revision.retired" | "rollback.*" | "rollback.completed" | "rollback.started" | "rollout.*" | "rollout.analysis_completed" | "rollout.paused" | "rollout.promoted" | "rollout.reverted" | "rollout.started" | "rollout.step_advanced" | "route.*" | "route.updated" | "target_binding.*" | "target_binding.misconfigured" | "webhook.*" | "webhook.test";
                /** @description Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page. */
                limit?: number;
                /** @description `next_cursor` of the previous page; omit it for the first page. */
                cursor?: string;
                /** @description `desc`: newest first. A `cursor` is valid only in the order of its page. */
                order?: "desc" | "asc";
                /** @description Only rows created at this time or later. */
                since?: string;
                /** @description Only rows created before this time. */
                until?: string;
            };
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
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
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendWebhookEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "deployment": "chat",
                 *       "sequence": 1
                 *     }
                 */
                "application/json": components["schemas"]["SendWebhookEventDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDto"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDto"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
                /**
                 * @description The delivery, by the id of its event.
                 * @example evt_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                event_id: string;
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
                    "application/json": components["schemas"]["WebhookDeliveryDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    redeliverWebhookEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
                /**
                 * @description The delivery, by the id of its event.
                 * @example evt_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                event_id: string;
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
                    "application/json": components["schemas"]["WebhookDeliveryDto"];
                };
            };
        };
    };
    skipWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
                /**
                 * @description The delivery, by the id of its event.
                 * @example evt_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                event_id: string;
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
                    "application/json": components["schemas"]["WebhookDeliveryDto"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 3600
                 *     }
                 */
                "application/json": components["schemas"]["RotateWebhookSecretDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedWebhookDto"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The webhook, by id.
                 * @example whk_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
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
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryDto"];
                };
            };
        };
    };
    whoAmI: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the response that the client has; 304 without a body if the response is unchanged. */
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
                    "application/json": components["schemas"]["WhoAmIDto"];
                };
            };
            /** @description The response still has this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
