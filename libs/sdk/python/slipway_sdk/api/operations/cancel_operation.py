from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.cancel_operation_dto import CancelOperationDto
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.operation_dto import OperationDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: CancelOperationDto | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/operations/{id}/cancel".format(
            id=quote(str(id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | OperationDto:
    if response.status_code == 200:
        response_200 = OperationDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | OperationDto]:
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
    body: CancelOperationDto | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationDto]:
    """Cancel a live operation

     The operation undoes what it has begun and ends `cancelled`. Asking again changes nothing.

    Args:
        id (str):
        body (CancelOperationDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationDto]
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
    body: CancelOperationDto | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationDto | None:
    """Cancel a live operation

     The operation undoes what it has begun and ends `cancelled`. Asking again changes nothing.

    Args:
        id (str):
        body (CancelOperationDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationDto
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
    body: CancelOperationDto | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationDto]:
    """Cancel a live operation

     The operation undoes what it has begun and ends `cancelled`. Asking again changes nothing.

    Args:
        id (str):
        body (CancelOperationDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationDto]
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
    body: CancelOperationDto | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationDto | None:
    """Cancel a live operation

     The operation undoes what it has begun and ends `cancelled`. Asking again changes nothing.

    Args:
        id (str):
        body (CancelOperationDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationDto
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
        )
    ).parsed
