from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.file_dto import FileDto
from ...models.put_file_dto import PutFileDto
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: PutFileDto | File | Unset = UNSET,
    path: str | Unset = UNSET,
    mode: str | Unset = UNSET,
    sha256: str | Unset = UNSET,
    overwrite: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["path"] = path

    params["mode"] = mode

    params["sha256"] = sha256

    params["overwrite"] = overwrite

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/sandboxes/{id}/files".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    if isinstance(body, PutFileDto):
        if not isinstance(body, Unset):
            _kwargs["json"] = body.to_dict()

        headers["Content-Type"] = "application/json"
    if isinstance(body, File):
        if not isinstance(body, Unset):
            _kwargs["content"] = body.payload
        headers["Content-Type"] = "application/octet-stream"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelopeDto | FileDto:
    if response.status_code == 200:
        response_200 = FileDto.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = FileDto.from_dict(response.json())

        return response_201

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | FileDto]:
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
    body: PutFileDto | File | Unset = UNSET,
    path: str | Unset = UNSET,
    mode: str | Unset = UNSET,
    sha256: str | Unset = UNSET,
    overwrite: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | FileDto]:
    """Stream a bounded file into the durable workspace of a sandbox

     A JSON object with the file as text, up to 8 MiB, or the bare bytes with `?path=`, up to the
    service's limit. Verifies `Content-Digest` (RFC 9530: sha-256, sha-512). Replaces a file whole or
    not at all.

    Args:
        id (str):
        path (str | Unset):
        mode (str | Unset): `"0644"` unless given.
        sha256 (str | Unset):
        overwrite (bool | Unset): `true` unless given.
        idempotency_key (str | Unset):
        body (PutFileDto | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | FileDto]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        path=path,
        mode=mode,
        sha256=sha256,
        overwrite=overwrite,
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
    body: PutFileDto | File | Unset = UNSET,
    path: str | Unset = UNSET,
    mode: str | Unset = UNSET,
    sha256: str | Unset = UNSET,
    overwrite: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelopeDto | FileDto | None:
    """Stream a bounded file into the durable workspace of a sandbox

     A JSON object with the file as text, up to 8 MiB, or the bare bytes with `?path=`, up to the
    service's limit. Verifies `Content-Digest` (RFC 9530: sha-256, sha-512). Replaces a file whole or
    not at all.

    Args:
        id (str):
        path (str | Unset):
        mode (str | Unset): `"0644"` unless given.
        sha256 (str | Unset):
        overwrite (bool | Unset): `true` unless given.
        idempotency_key (str | Unset):
        body (PutFileDto | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | FileDto
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        path=path,
        mode=mode,
        sha256=sha256,
        overwrite=overwrite,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: PutFileDto | File | Unset = UNSET,
    path: str | Unset = UNSET,
    mode: str | Unset = UNSET,
    sha256: str | Unset = UNSET,
    overwrite: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | FileDto]:
    """Stream a bounded file into the durable workspace of a sandbox

     A JSON object with the file as text, up to 8 MiB, or the bare bytes with `?path=`, up to the
    service's limit. Verifies `Content-Digest` (RFC 9530: sha-256, sha-512). Replaces a file whole or
    not at all.

    Args:
        id (str):
        path (str | Unset):
        mode (str | Unset): `"0644"` unless given.
        sha256 (str | Unset):
        overwrite (bool | Unset): `true` unless given.
        idempotency_key (str | Unset):
        body (PutFileDto | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | FileDto]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        path=path,
        mode=mode,
        sha256=sha256,
        overwrite=overwrite,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: PutFileDto | File | Unset = UNSET,
    path: str | Unset = UNSET,
    mode: str | Unset = UNSET,
    sha256: str | Unset = UNSET,
    overwrite: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelopeDto | FileDto | None:
    """Stream a bounded file into the durable workspace of a sandbox

     A JSON object with the file as text, up to 8 MiB, or the bare bytes with `?path=`, up to the
    service's limit. Verifies `Content-Digest` (RFC 9530: sha-256, sha-512). Replaces a file whole or
    not at all.

    Args:
        id (str):
        path (str | Unset):
        mode (str | Unset): `"0644"` unless given.
        sha256 (str | Unset):
        overwrite (bool | Unset): `true` unless given.
        idempotency_key (str | Unset):
        body (PutFileDto | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | FileDto
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            path=path,
            mode=mode,
            sha256=sha256,
            overwrite=overwrite,
            idempotency_key=idempotency_key,
        )
    ).parsed
