from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.audit_page_dto import AuditPageDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    resource_type: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["action"] = action

    params["actor"] = actor

    params["resource_type"] = resource_type

    params["resource_name"] = resource_name

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/audit",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuditPageDto | ErrorEnvelopeDto:
    if response.status_code == 200:
        response_200 = AuditPageDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AuditPageDto | ErrorEnvelopeDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    resource_type: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[AuditPageDto | ErrorEnvelopeDto]:
    """List who changed what, newest first

     One row a mutation, written with it, and one an hour at most for reads alike that matter. Rows are
    sealed into a hash chain about a second later.

    Args:
        action (str | Unset):
        actor (str | Unset):
        resource_type (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditPageDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        action=action,
        actor=actor,
        resource_type=resource_type,
        resource_name=resource_name,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    resource_type: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> AuditPageDto | ErrorEnvelopeDto | None:
    """List who changed what, newest first

     One row a mutation, written with it, and one an hour at most for reads alike that matter. Rows are
    sealed into a hash chain about a second later.

    Args:
        action (str | Unset):
        actor (str | Unset):
        resource_type (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditPageDto | ErrorEnvelopeDto
    """

    return sync_detailed(
        client=client,
        action=action,
        actor=actor,
        resource_type=resource_type,
        resource_name=resource_name,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    resource_type: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[AuditPageDto | ErrorEnvelopeDto]:
    """List who changed what, newest first

     One row a mutation, written with it, and one an hour at most for reads alike that matter. Rows are
    sealed into a hash chain about a second later.

    Args:
        action (str | Unset):
        actor (str | Unset):
        resource_type (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditPageDto | ErrorEnvelopeDto]
    """

    kwargs = _get_kwargs(
        action=action,
        actor=actor,
        resource_type=resource_type,
        resource_name=resource_name,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    resource_type: str | Unset = UNSET,
    resource_name: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> AuditPageDto | ErrorEnvelopeDto | None:
    """List who changed what, newest first

     One row a mutation, written with it, and one an hour at most for reads alike that matter. Rows are
    sealed into a hash chain about a second later.

    Args:
        action (str | Unset):
        actor (str | Unset):
        resource_type (str | Unset):
        resource_name (str | Unset):
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditPageDto | ErrorEnvelopeDto
    """

    return (
        await asyncio_detailed(
            client=client,
            action=action,
            actor=actor,
            resource_type=resource_type,
            resource_name=resource_name,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
