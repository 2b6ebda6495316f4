from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.create_tenant_dto import CreateTenantDto
from ...models.created_tenant_dto import CreatedTenantDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import Response


def _get_kwargs(
    *,
    body: CreateTenantDto,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/tenants",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CreatedTenantDto | ErrorEnvelopeDto:
    if response.status_code == 201:
        response_201 = CreatedTenantDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CreatedTenantDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateTenantDto,
) -> Response[CreatedTenantDto | ErrorEnvelopeDto]:
    """Create a tenant and its first admin token

     For admins of the operator tenant.

    Args:
        body (CreateTenantDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CreatedTenantDto | ErrorEnvelopeDto]
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
    body: CreateTenantDto,
) -> CreatedTenantDto | ErrorEnvelopeDto | None:
    """Create a tenant and its first admin token

     For admins of the operator tenant.

    Args:
        body (CreateTenantDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CreatedTenantDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateTenantDto,
) -> Response[CreatedTenantDto | ErrorEnvelopeDto]:
    """Create a tenant and its first admin token

     For admins of the operator tenant.

    Args:
        body (CreateTenantDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CreatedTenantDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateTenantDto,
) -> CreatedTenantDto | ErrorEnvelopeDto | None:
    """Create a tenant and its first admin token

     For admins of the operator tenant.

    Args:
        body (CreateTenantDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CreatedTenantDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
