from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.revision_dto import RevisionDto
from ...types import Response


def _get_kwargs(
    name: str,
    revision: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/deployments/{name}/revisions/{revision}".format(
            name=quote(str(name), safe=""),
            revision=quote(str(revision), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | RevisionDto:
    if response.status_code == 200:
        response_200 = RevisionDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | RevisionDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    revision: str,
    *,
    client: AuthenticatedClient,
) -> Response[ErrorEnvelopeDto | RevisionDto]:
    """Inspect one revision by id, number or name

     Its spec as it was rolled out, with defaults filled in, where it came from, and its state; `message`
    says why it failed.

    Args:
        name (str):
        revision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | RevisionDto]
    """

    kwargs = _get_kwargs(
        name=name,
        revision=revision,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    revision: str,
    *,
    client: AuthenticatedClient,
) -> ErrorEnvelopeDto | RevisionDto | None:
    """Inspect one revision by id, number or name

     Its spec as it was rolled out, with defaults filled in, where it came from, and its state; `message`
    says why it failed.

    Args:
        name (str):
        revision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | RevisionDto
    """

    return sync_detailed(
        name=name,
        revision=revision,
        client=client,
    ).parsed


async def asyncio_detailed(
    name: str,
    revision: str,
    *,
    client: AuthenticatedClient,
) -> Response[ErrorEnvelopeDto | RevisionDto]:
    """Inspect one revision by id, number or name

     Its spec as it was rolled out, with defaults filled in, where it came from, and its state; `message`
    says why it failed.

    Args:
        name (str):
        revision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | RevisionDto]
    """

    kwargs = _get_kwargs(
        name=name,
        revision=revision,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    revision: str,
    *,
    client: AuthenticatedClient,
) -> ErrorEnvelopeDto | RevisionDto | None:
    """Inspect one revision by id, number or name

     Its spec as it was rolled out, with defaults filled in, where it came from, and its state; `message`
    says why it failed.

    Args:
        name (str):
        revision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | RevisionDto
    """

    return (
        await asyncio_detailed(
            name=name,
            revision=revision,
            client=client,
        )
    ).parsed
