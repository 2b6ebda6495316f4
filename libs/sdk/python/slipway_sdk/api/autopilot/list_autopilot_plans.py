from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.plan_page_dto import PlanPageDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    deployment: str | Unset = UNSET,
    state: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["deployment"] = deployment

    params["state"] = state

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/autopilot/plans",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | PlanPageDto:
    if response.status_code == 200:
        response_200 = PlanPageDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | PlanPageDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    deployment: str | Unset = UNSET,
    state: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | PlanPageDto]:
    """List plans, newest first

     With the state of their approval. `state` and `deployment` narrow the list.

    Args:
        deployment (str | Unset):
        state (str | Unset): One of `pending`, `approved`, `rejected`, `expired`, `superseded`.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PlanPageDto]
    """

    kwargs = _get_kwargs(
        deployment=deployment,
        state=state,
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
    deployment: str | Unset = UNSET,
    state: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> ErrorEnvelopeDto | PlanPageDto | None:
    """List plans, newest first

     With the state of their approval. `state` and `deployment` narrow the list.

    Args:
        deployment (str | Unset):
        state (str | Unset): One of `pending`, `approved`, `rejected`, `expired`, `superseded`.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | PlanPageDto
    """

    return sync_detailed(
        client=client,
        deployment=deployment,
        state=state,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    deployment: str | Unset = UNSET,
    state: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | PlanPageDto]:
    """List plans, newest first

     With the state of their approval. `state` and `deployment` narrow the list.

    Args:
        deployment (str | Unset):
        state (str | Unset): One of `pending`, `approved`, `rejected`, `expired`, `superseded`.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PlanPageDto]
    """

    kwargs = _get_kwargs(
        deployment=deployment,
        state=state,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    deployment: str | Unset = UNSET,
    state: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> ErrorEnvelopeDto | PlanPageDto | None:
    """List plans, newest first

     With the state of their approval. `state` and `deployment` narrow the list.

    Args:
        deployment (str | Unset):
        state (str | Unset): One of `pending`, `approved`, `rejected`, `expired`, `superseded`.
        limit (int | Unset): `50` unless given.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | PlanPageDto
    """

    return (
        await asyncio_detailed(
            client=client,
            deployment=deployment,
            state=state,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
