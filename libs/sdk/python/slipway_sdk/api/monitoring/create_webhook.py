from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_webhook_dto import CreateWebhookDto
from ...models.created_webhook_dto import CreatedWebhookDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import Response


def _get_kwargs(
    *,
    body: CreateWebhookDto,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/webhooks",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CreatedWebhookDto | ErrorEnvelopeDto:
    if response.status_code == 201:
        response_201 = CreatedWebhookDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CreatedWebhookDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateWebhookDto,
) -> Response[CreatedWebhookDto | ErrorEnvelopeDto]:
    """Have events posted to a URL

     Every event from now on is posted as a CloudEvent (structured JSON), signed as standard-webhooks.com
    describes, at least once and in order within its stream. Any 2xx answer within 10 s accepts it;
    anything else is repeated for about three days; 410 disables the webhook.

    Args:
        body (CreateWebhookDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CreatedWebhookDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: CreateWebhookDto,
) -> CreatedWebhookDto | ErrorEnvelopeDto | None:
    """Have events posted to a URL

     Every event from now on is posted as a CloudEvent (structured JSON), signed as standard-webhooks.com
    describes, at least once and in order within its stream. Any 2xx answer within 10 s accepts it;
    anything else is repeated for about three days; 410 disables the webhook.

    Args:
        body (CreateWebhookDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CreatedWebhookDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateWebhookDto,
) -> Response[CreatedWebhookDto | ErrorEnvelopeDto]:
    """Have events posted to a URL

     Every event from now on is posted as a CloudEvent (structured JSON), signed as standard-webhooks.com
    describes, at least once and in order within its stream. Any 2xx answer within 10 s accepts it;
    anything else is repeated for about three days; 410 disables the webhook.

    Args:
        body (CreateWebhookDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CreatedWebhookDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateWebhookDto,
) -> CreatedWebhookDto | ErrorEnvelopeDto | None:
    """Have events posted to a URL

     Every event from now on is posted as a CloudEvent (structured JSON), signed as standard-webhooks.com
    describes, at least once and in order within its stream. Any 2xx answer within 10 s accepts it;
    anything else is repeated for about three days; 410 disables the webhook.

    Args:
        body (CreateWebhookDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CreatedWebhookDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
