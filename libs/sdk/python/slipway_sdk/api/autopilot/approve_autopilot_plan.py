from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.approve_plan_dto import ApprovePlanDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.plan_dto import PlanDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: ApprovePlanDto,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/autopilot/plans/{id}/approve".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelopeDto | PlanDto:
    if response.status_code == 200:
        response_200 = PlanDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | PlanDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: ApprovePlanDto,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | PlanDto]:
    """Record human approval without changing serving state

     Executing an approved plan is a rollout with its `plan_id`. Approvals count people: all tokens of
    one owner are one, and a service approves nothing.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (ApprovePlanDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PlanDto]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: ApprovePlanDto,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelopeDto | PlanDto | None:
    """Record human approval without changing serving state

     Executing an approved plan is a rollout with its `plan_id`. Approvals count people: all tokens of
    one owner are one, and a service approves nothing.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (ApprovePlanDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | PlanDto
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: ApprovePlanDto,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | PlanDto]:
    """Record human approval without changing serving state

     Executing an approved plan is a rollout with its `plan_id`. Approvals count people: all tokens of
    one owner are one, and a service approves nothing.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (ApprovePlanDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PlanDto]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: ApprovePlanDto,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelopeDto | PlanDto | None:
    """Record human approval without changing serving state

     Executing an approved plan is a rollout with its `plan_id`. Approvals count people: all tokens of
    one owner are one, and a service approves nothing.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (ApprovePlanDto):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | PlanDto
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
