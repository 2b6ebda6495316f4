from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.revision_diff_dto import RevisionDiffDto
from ...types import Response


def _get_kwargs(
    name: str,
    a: str,
    b: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/deployments/{name}/revisions/{a}/diff/{b}".format(
            name=quote(str(name), safe=""),
            a=quote(str(a), safe=""),
            b=quote(str(b), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | RevisionDiffDto:
    if response.status_code == 200:
        response_200 = RevisionDiffDto.from_dict(response.json())

        return response_200

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | RevisionDiffDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    a: str,
    b: str,
    *,
    client: AuthenticatedClient,
) -> Response[ErrorEnvelopeDto | RevisionDiffDto]:
    """Compare the specs of two revisions as a JSON Patch

     `patch` turns the spec of the first into that of the second (RFC 6902).

    Args:
        name (str):
        a (str):
        b (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | RevisionDiffDto]
    """

    kwargs = _get_kwargs(
        name=name,
        a=a,
        b=b,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    a: str,
    b: str,
    *,
    client: AuthenticatedClient,
) -> ErrorEnvelopeDto | RevisionDiffDto | None:
    """Compare the specs of two revisions as a JSON Patch

     `patch` turns the spec of the first into that of the second (RFC 6902).

    Args:
        name (str):
        a (str):
        b (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | RevisionDiffDto
    """

    return sync_detailed(
        name=name,
        a=a,
        b=b,
        client=client,
    ).parsed


async def asyncio_detailed(
    name: str,
    a: str,
    b: str,
    *,
    client: AuthenticatedClient,
) -> Response[ErrorEnvelopeDto | RevisionDiffDto]:
    """Compare the specs of two revisions as a JSON Patch

     `patch` turns the spec of the first into that of the second (RFC 6902).

    Args:
        name (str):
        a (str):
        b (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | RevisionDiffDto]
    """

    kwargs = _get_kwargs(
        name=name,
        a=a,
        b=b,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    a: str,
    b: str,
    *,
    client: AuthenticatedClient,
) -> ErrorEnvelopeDto | RevisionDiffDto | None:
    """Compare the specs of two revisions as a JSON Patch

     `patch` turns the spec of the first into that of the second (RFC 6902).

    Args:
        name (str):
        a (str):
        b (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | RevisionDiffDto
    """

    return (
        await asyncio_detailed(
            name=name,
            a=a,
            b=b,
            client=client,
        )
    ).parsed
