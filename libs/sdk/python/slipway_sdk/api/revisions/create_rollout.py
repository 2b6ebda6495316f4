from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.error_envelope_dto import ErrorEnvelopeDto
from ...models.operation_envelope_dto import OperationEnvelopeDto
from ...models.rollout_dto import RolloutDto
from ...models.rollout_rehearsal_dto import RolloutRehearsalDto
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    body: RolloutDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["validate_only"] = validate_only

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/deployments/{name}/rollouts".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> OperationEnvelopeDto | RolloutRehearsalDto:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_0 = OperationEnvelopeDto.from_dict(data)

                return response_200_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_200_type_1 = RolloutRehearsalDto.from_dict(data)

            return response_200_type_1

        response_200 = _parse_response_200(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = OperationEnvelopeDto.from_dict(response.json())

        return response_202

    response_default = ErrorEnvelopeDto.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: RolloutDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto]:
    """Create a candidate revision and roll it out

     Builds the candidate of `spec`, or of `spec_patch` on the active revision, beside the one that
    serves, proves it ready, and moves the traffic as `strategy` says: `candidate` (unless the
    deployment has another default) moves none, `immediate` all at once, `canary` and `blue_green` step
    by step with `analysis`. `recreate` stops what serves before it starts the candidate, for targets
    without room for both: requests wait for at most `hold_seconds` each. Whatever fails puts back the
    route it found. `GET /targets` says which targets and engines there are. Answers 202 with an
    operation.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        idempotency_key (str | Unset):
        body (RolloutDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
        validate_only=validate_only,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    body: RolloutDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto | None:
    """Create a candidate revision and roll it out

     Builds the candidate of `spec`, or of `spec_patch` on the active revision, beside the one that
    serves, proves it ready, and moves the traffic as `strategy` says: `candidate` (unless the
    deployment has another default) moves none, `immediate` all at once, `canary` and `blue_green` step
    by step with `analysis`. `recreate` stops what serves before it starts the candidate, for targets
    without room for both: requests wait for at most `hold_seconds` each. Whatever fails puts back the
    route it found. `GET /targets` says which targets and engines there are. Answers 202 with an
    operation.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        idempotency_key (str | Unset):
        body (RolloutDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto
    """

    return sync_detailed(
        name=name,
        client=client,
        body=body,
        validate_only=validate_only,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: RolloutDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto]:
    """Create a candidate revision and roll it out

     Builds the candidate of `spec`, or of `spec_patch` on the active revision, beside the one that
    serves, proves it ready, and moves the traffic as `strategy` says: `candidate` (unless the
    deployment has another default) moves none, `immediate` all at once, `canary` and `blue_green` step
    by step with `analysis`. `recreate` stops what serves before it starts the candidate, for targets
    without room for both: requests wait for at most `hold_seconds` each. Whatever fails puts back the
    route it found. `GET /targets` says which targets and engines there are. Answers 202 with an
    operation.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        idempotency_key (str | Unset):
        body (RolloutDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelopeDto | OperationEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
        validate_only=validate_only,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    body: RolloutDto | Unset = UNSET,
    validate_only: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto | None:
    """Create a candidate revision and roll it out

     Builds the candidate of `spec`, or of `spec_patch` on the active revision, beside the one that
    serves, proves it ready, and moves the traffic as `strategy` says: `candidate` (unless the
    deployment has another default) moves none, `immediate` all at once, `canary` and `blue_green` step
    by step with `analysis`. `recreate` stops what serves before it starts the candidate, for targets
    without room for both: requests wait for at most `hold_seconds` each. Whatever fails puts back the
    route it found. `GET /targets` says which targets and engines there are. Answers 202 with an
    operation.

    Args:
        name (str):
        validate_only (bool | Unset): `false` unless given.
        idempotency_key (str | Unset):
        body (RolloutDto | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelopeDto | OperationEnvelopeDto | OperationEnvelopeDto | RolloutRehearsalDto
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
            validate_only=validate_only,
            idempotency_key=idempotency_key,
        )
    ).parsed
