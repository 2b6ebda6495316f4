from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.console_access_dto import ConsoleAccessDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.set_console_access_dto import SetConsoleAccessDto
from ...types import Response


def _get_kwargs(
    *,
    body: SetConsoleAccessDto,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/console/access",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ConsoleAccessDto | ErrorEnvelopeDto:
    if response.status_code == 200:
        response_200 = ConsoleAccessDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ConsoleAccessDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: SetConsoleAccessDto,
) -> Response[ConsoleAccessDto | ErrorEnvelopeDto]:
    """Map a hosted identity and grant or revoke private-console access

     Provider, organization and user name the mapping, so repeating a request changes nothing. Access is
    granted to users of the organizations that the operator gave to the tenant; the operator tenant has
    those that nobody has. A revocation holds at the next request of the identity, open event streams
    included. An identity that several tenants know names one, by id or name, in the header `X-Slipway-
    Tenant`.

    Args:
        body (SetConsoleAccessDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConsoleAccessDto | ErrorEnvelopeDto]
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
    body: SetConsoleAccessDto,
) -> ConsoleAccessDto | ErrorEnvelopeDto | None:
    """Map a hosted identity and grant or revoke private-console access

     Provider, organization and user name the mapping, so repeating a request changes nothing. Access is
    granted to users of the organizations that the operator gave to the tenant; the operator tenant has
    those that nobody has. A revocation holds at the next request of the identity, open event streams
    included. An identity that several tenants know names one, by id or name, in the header `X-Slipway-
    Tenant`.

    Args:
        body (SetConsoleAccessDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConsoleAccessDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: SetConsoleAccessDto,
) -> Response[ConsoleAccessDto | ErrorEnvelopeDto]:
    """Map a hosted identity and grant or revoke private-console access

     Provider, organization and user name the mapping, so repeating a request changes nothing. Access is
    granted to users of the organizations that the operator gave to the tenant; the operator tenant has
    those that nobody has. A revocation holds at the next request of the identity, open event streams
    included. An identity that several tenants know names one, by id or name, in the header `X-Slipway-
    Tenant`.

    Args:
        body (SetConsoleAccessDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConsoleAccessDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: SetConsoleAccessDto,
) -> ConsoleAccessDto | ErrorEnvelopeDto | None:
    """Map a hosted identity and grant or revoke private-console access

     Provider, organization and user name the mapping, so repeating a request changes nothing. Access is
    granted to users of the organizations that the operator gave to the tenant; the operator tenant has
    those that nobody has. A revocation holds at the next request of the identity, open event streams
    included. An identity that several tenants know names one, by id or name, in the header `X-Slipway-
    Tenant`.

    Args:
        body (SetConsoleAccessDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConsoleAccessDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
