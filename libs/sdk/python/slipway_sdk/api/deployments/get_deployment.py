from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.deployment_dto import DeploymentDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import Response


def _get_kwargs(
    name: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/deployments/{name}".format(
            name=quote(str(name), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeploymentDto | ErrorEnvelopeDto:
    if response.status_code == 200:
        response_200 = DeploymentDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DeploymentDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
) -> Response[DeploymentDto | ErrorEnvelopeDto]:
    """Inspect a deployment

     Its state, the conditions behind that, which revisions are active, candidate and previous, the
    route, and the operation under way. `If-Match` of other operations takes its `etag`.

    Args:
        name (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
) -> DeploymentDto | ErrorEnvelopeDto | None:
    """Inspect a deployment

     Its state, the conditions behind that, which revisions are active, candidate and previous, the
    route, and the operation under way. `If-Match` of other operations takes its `etag`.

    Args:
        name (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        name=name,
        client=client,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
) -> Response[DeploymentDto | ErrorEnvelopeDto]:
    """Inspect a deployment

     Its state, the conditions behind that, which revisions are active, candidate and previous, the
    route, and the operation under way. `If-Match` of other operations takes its `etag`.

    Args:
        name (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeploymentDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        name=name,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
) -> DeploymentDto | ErrorEnvelopeDto | None:
    """Inspect a deployment

     Its state, the conditions behind that, which revisions are active, candidate and previous, the
    route, and the operation under way. `If-Match` of other operations takes its `etag`.

    Args:
        name (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeploymentDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
        )
    ).parsed
