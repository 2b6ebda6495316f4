from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.plan_dto import PlanDto
from ...models.reject_plan_dto import RejectPlanDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: RejectPlanDto | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/autopilot/plans/{id}/reject".format(
            id=quote(str(id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
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
    body: RejectPlanDto | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | PlanDto]:
    """Reject a plan, or take it back

     Final: a rejected plan cannot be approved any more. The creator may take it back this way; serving
    state does not change.

    Args:
        id (str):
        body (RejectPlanDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PlanDto]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RejectPlanDto | Unset = UNSET,
) -> ErrorEnvelopeDto | PlanDto | None:
    """Reject a plan, or take it back

     Final: a rejected plan cannot be approved any more. The creator may take it back this way; serving
    state does not change.

    Args:
        id (str):
        body (RejectPlanDto | Unset):

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
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RejectPlanDto | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | PlanDto]:
    """Reject a plan, or take it back

     Final: a rejected plan cannot be approved any more. The creator may take it back this way; serving
    state does not change.

    Args:
        id (str):
        body (RejectPlanDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | PlanDto]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RejectPlanDto | Unset = UNSET,
) -> ErrorEnvelopeDto | PlanDto | None:
    """Reject a plan, or take it back

     Final: a rejected plan cannot be approved any more. The creator may take it back this way; serving
    state does not change.

    Args:
        id (str):
        body (RejectPlanDto | Unset):

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
        )
    ).parsed
