// A real OpenID provider as a separate process, for tests. Its parent sends
// {port, audience, jwks, clients: {<id>: <org_id>}, people: {<sub>: <org_id>},
//   console?: {redirectUri, accessTokenSeconds}}.
// It answers `{port}` once it listens. A client's id is the `sub` of the tokens that it gets by client_credentials.
// People sign in to the client `console` with a code, at /interaction/<uid>?as=<sub>: the browser is redirected there
// and offered every person. `{revoke: <sub>}` revokes every grant of a person.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

process.once('message', ({ port, audience, jwks, clients, people = {}, console }) => {
  const grants = new Map();
  const server = createServer();
  server.listen(port, '127.0.0.1', () => {
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const organizations = { ...clients, ...people };
    const provider = new Provider(issuer, {
      jwks,
      clients: [
        ...Object.keys(clients).map((id) => ({
          client_id: id,
          client_secret: `secret-of-${id}`,
          id_token_signed_response_alg: 'ES256',
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        })),
        ...(console
          ? [
              {
                client_id: 'console',
                client_secret: 'secret-of-console',
                id_token_signed_response_alg: 'ES256',
                grant_types: ['authorization_code', 'refresh_token'],
                redirect_uris: [console.redirectUri],
                response_types: ['code'],
              },
            ]
          : []),
      ],
      cookies: { keys: ['of a test'] },
      pkce: { required: () => true },
      ttl: {
        AccessToken: console?.accessTokenSeconds ?? 600,
        Grant: 3600,
        Session: 3600,
        Interaction: 600,
        IdToken: 600,
      },
      issueRefreshToken: async () => true,
      rotateRefreshToken: true,
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, org_id: organizations[sub] }) }),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => audience,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: '',
            audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: console?.accessTokenSeconds ?? 600,
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
      extraTokenClaims: (_context, token) => ({ org_id: organizations[token.accountId ?? token.clientId] }),
    });
    const handle = provider.callback();
    server.on('request', async (request, response) => {
      const url = new URL(request.url, issuer);
      if (!url.pathname.startsWith('/interaction/')) return handle(request, response);
      const { params } = await provider.interactionDetails(request, response);
      const sub = url.searchParams.get('as');
      if (sub === null && request.headers.accept?.includes('text/html')) {
        const links = Object.keys(people).map((one) => `<a href="?as=${one}">Go on as ${one}</a>`);
        return response.setHeader('content-type', 'text/html').end(links.join(' '));
      }
      if (sub === null)
        return provider.interactionFinished(
          request,
          response,
          { error: 'access_denied' },
          { mergeWithLastSubmission: false },
        );
      const grant = new provider.Grant({ accountId: sub, clientId: params.client_id });
      grant.addOIDCScope('openid');
      grant.addResourceScope(audience, '');
      const grantId = await grant.save();
      grants.set(sub, [...(grants.get(sub) ?? []), grant]);
      const result = { login: { accountId: sub }, consent: { grantId } };
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    });
    process.on('message', async ({ revoke }) => {
      for (const grant of grants.get(revoke) ?? []) await grant.destroy();
      process.send({ revoked: revoke });
    });
    process.send({ port: server.address().port });
  });
});
process.once('disconnect', () => process.exit(0));
